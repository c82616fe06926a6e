#include "file_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "failure.h"

namespace homa::tools {
namespace {

namespace fs = std::filesystem;

/// root/ holds the tree that is served; beside it lies a secret that must never come out.
class FileTreeTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "homa-tree-XXXXXX").string();
    top_ = ::mkdtemp(pattern.data());
    fs::create_directories(top_ / "root/sub/deep");
    write("root/a.txt", "alpha");
    write("root/sub/deep/b.txt", "beta");
    write("root/empty", "");
    write("root/..odd", "odd");
    write("secret", "secret");
    fs::create_symlink("../secret", top_ / "root/link");
    fs::create_symlink("a.txt", top_ / "root/inner_link");
    fs::create_symlink("..", top_ / "root/up");
    fs::create_symlink("/", top_ / "root/slash");
    ASSERT_EQ(::mkfifo((top_ / "root/pipe").c_str(), 0600), 0);
    tree_ = std::make_unique<FileTree>(top_ / "root");
    if (!GetParam()) tree_->avoid_openat2();
  }
  void TearDown() override { fs::remove_all(top_); }
  void write(const char* name, const char* text) { std::ofstream(top_ / name) << text; }
  std::string read(std::string_view path) {
    const OpenResult result = tree_->open(path, 1 << 20);
    if (!result.ok()) return "refused: " + result.refusal;
    const FileContent content = result.file.read();
    if (!content.ok()) return "refused: " + content.refusal;
    return std::string(reinterpret_cast<const char*>(content.data.get()), content.size);
  }

  fs::path top_;
  std::unique_ptr<FileTree> tree_;
};

TEST_P(FileTreeTest, ReadsFilesBelow) {
  EXPECT_EQ(read("a.txt"), "alpha");
  EXPECT_EQ(read("./a.txt"), "alpha");
  EXPECT_EQ(read("sub/deep/b.txt"), "beta");
  EXPECT_EQ(read("sub//deep/./b.txt"), "beta");
  EXPECT_EQ(read("..odd"), "odd");
  EXPECT_EQ(read("empty"), "");
}

TEST_P(FileTreeTest, NothingOutsideComesOut) {
  const std::string absolute = (top_ / "secret").string();
  const std::string_view attempts[] = {"../secret",
                                       "sub/../../secret",
                                       "sub/..",
                                       "..",
                                       "link",
                                       "inner_link",
                                       "up/secret",
                                       "slash/etc/passwd",
                                       absolute,
                                       "/etc/passwd",
                                       "",
                                       "sub",
                                       ".",
                                       "pipe",
                                       "missing",
                                       "a.txt/x",
                                       std::string_view("a.txt\0x", 7)};
  for (const auto attempt : attempts) EXPECT_EQ(read(attempt).rfind("refused: ", 0), 0u) << attempt;
  EXPECT_EQ(read(std::string(5000, 'x')).rfind("refused: ", 0), 0u);
}

TEST_P(FileTreeTest, RefusesWhatIsTooLong) {
  EXPECT_TRUE(tree_->open("a.txt", 5).ok());
  EXPECT_FALSE(tree_->open("a.txt", 4).ok());
}

TEST_P(FileTreeTest, AFileThatShrinksIsRefusedNotDiedOf) {
  // Longer than a page: of a mapping, what lies behind the new end could not be read any more.
  constexpr std::size_t kSize = 1 << 20;
  write("root/shrinks", std::string(kSize, 's').c_str());
  const OpenResult before = tree_->open("shrinks", kSize);
  const OpenResult after = tree_->open("shrinks", kSize);
  ASSERT_TRUE(before.ok() && after.ok());
  const FileContent content = before.file.read();
  fs::resize_file(top_ / "root/shrinks", 100);
  EXPECT_FALSE(after.file.read().ok());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(content.data.get()), content.size), std::string(kSize, 's'));
}

TEST_P(FileTreeTest, AFileThatGrowsIsReadAsItWas) {
  const OpenResult opened = tree_->open("a.txt", 1 << 20);
  ASSERT_TRUE(opened.ok());
  write("root/a.txt", "alphabet");
  EXPECT_EQ(opened.file.read().size, 5u);
}

TEST_P(FileTreeTest, RefusalsNameNoPathOfTheServer) {
  for (const char* attempt : {"missing", "link", "../secret"}) {
    EXPECT_EQ(read(attempt).find(top_.string()), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, FileTreeTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "openat2" : "by_component"; });

TEST(FileTree, UnreadableDirectoryIsAUsageFailure) {
  try {
    FileTree tree("/nonexistent");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), kExitUsage);
  }
}

}  // namespace
}  // namespace homa::tools
