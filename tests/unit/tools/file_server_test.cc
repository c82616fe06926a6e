#include "file_server.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "homa/client.h"

namespace homa::tools {
namespace {

namespace fs = std::filesystem;

/// A directory with files of many lengths, served over loopback with room for one long file at a time.
class FileServerTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLongest = 1'000'000;

  FileServerTest() {
    std::string pattern = (fs::temp_directory_path() / "homa-files-XXXXXX").string();
    top_ = ::mkdtemp(pattern.data());
  }
  ~FileServerTest() override { fs::remove_all(top_); }

  void SetUp() override {
    tree_ = std::make_unique<FileTree>(top_);
    files_ = std::make_unique<FileServer>(*tree_, tally_, kLongest, kLongest);
    ServerOptions options(Security::clear());
    options.bind = *parse_address("127.0.0.1:0");
    options.wait = WaitMode::block;
    Result<Server> server = Server::start(options, [this](Request request) { files_->answer(std::move(request)); });
    ASSERT_TRUE(server) << server.error().message();
    server_ = std::make_unique<Server>(std::move(*server));
    Result<Client> client = Client::open(client_options());
    ASSERT_TRUE(client) << client.error().message();
    client_ = std::make_unique<Client>(std::move(*client));
  }
  static ClientOptions client_options() {
    ClientOptions options(Security::clear());
    options.wait = WaitMode::block;
    return options;
  }
  std::string write(const std::string& name, std::size_t size) {
    std::string content;
    for (std::size_t i = 0; content.size() < size; ++i) content += name + std::to_string(i);
    content.resize(size);
    std::ofstream(top_ / name) << content;
    return content;
  }
  /// Asks for all at once; what came, or "error".
  std::map<std::string, std::string> fetch(const std::vector<std::string>& names) {
    std::map<std::string, std::string> got;
    std::mutex mutex;
    std::condition_variable changed;
    for (const std::string& name : names) {
      const Result<CallToken> token =
          client_->call(server_->address(), as_bytes(name), CallOptions::within(20s), [&, name](Result<Message> end) {
            const std::lock_guard lock(mutex);
            got[name] = end ? std::string(end->text()) : "error";
            changed.notify_all();
          });
      EXPECT_TRUE(token);
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return got.size() == names.size(); });
    return got;
  }

  fs::path top_;
  ServeTally tally_;
  std::unique_ptr<FileTree> tree_;
  std::unique_ptr<FileServer> files_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(FileServerTest, FilesThatDoNotFitInMemoryTogetherAllComeInTheEnd) {
  std::map<std::string, std::string> expected;
  std::vector<std::string> names;
  std::uint64_t bytes = 0;
  for (int round = 0; round < 4; ++round) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65'536}, std::size_t{65'537},
                                   std::size_t{400'000}, std::size_t{kLongest}}) {
      names.push_back(std::to_string(size) + "-" + std::to_string(round));
      expected[names.back()] = write(names.back(), size);
      bytes += size;
    }
  }
  EXPECT_EQ(fetch(names), expected);
  EXPECT_EQ(tally_.answered, names.size());
  EXPECT_EQ(tally_.bytes_out, bytes);
}

TEST_F(FileServerTest, RefusalsGiveTheirMemoryBack) {
  write("long", kLongest);
  write("too-long", kLongest + 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fetch({"missing", "too-long", "../x"}),
              (std::map<std::string, std::string>{{"missing", "error"}, {"too-long", "error"}, {"../x", "error"}}));
    EXPECT_EQ(fetch({"long"})["long"].size(), kLongest);
  }
  EXPECT_EQ(tally_.refused, 9u);
}

TEST_F(FileServerTest, AFileThatShrinksWhileItIsServedHurtsNobody) {
  // Whatever the moment, the answer is a whole file of some length, or a refusal.
  for (int i = 0; i < 50; ++i) {
    write("changing", kLongest);
    std::thread shrink([&] { fs::resize_file(top_ / "changing", static_cast<std::uintmax_t>(i) * 1000); });
    const std::string got = fetch({"changing"})["changing"];
    shrink.join();
    EXPECT_TRUE(got == "error" || got.size() == kLongest || got.size() == static_cast<std::size_t>(i) * 1000)
        << got.size();
  }
  EXPECT_EQ(tally_.answered + tally_.refused, 50u);
}

TEST_F(FileServerTest, StopsWithRequestsThatWait) {
  write("long", kLongest);
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client_->call(server_->address(), as_bytes("long"), {}, [&](Result<Message>) { ++ended; }));
  }
  server_->stop();
  files_.reset();
  client_->close();
  EXPECT_EQ(ended, 20);
}

}  // namespace
}  // namespace homa::tools
