// The files of one directory, read only, for `homa serve --files`: nothing outside of it can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace homa::tools {

/// Outcome of OpenFile::read(): the bytes, or one line that says why not.
struct FileContent {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
  std::string refusal;  ///< empty: all is there
  bool ok() const { return refusal.empty(); }
};

/// One open file. Its bytes are copied, not mapped: a file that shrinks while its mapping is read ends the process by
/// SIGBUS.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(int descriptor, std::size_t size) : descriptor_(descriptor), size_(size) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;

  /// As it was when it was opened.
  std::size_t size() const { return size_; }
  /// That many bytes from its beginning. Refused when it has fewer by now, or there is no memory.
  FileContent read() const;

 private:
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Outcome of FileTree::open(): a file, or one line that says why not (for the peer: it names no path of ours).
struct OpenResult {
  OpenFile file;
  std::string refusal;  ///< empty: `file` is good
  bool ok() const { return refusal.empty(); }
};

/// Safe to use from several threads.
class FileTree {
 public:
  /// Throws Failure when `directory` cannot be read.
  explicit FileTree(const std::string& directory);
  ~FileTree();
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  /// Opens the regular file at `path` below the directory. No "..", absolute path, symbolic link, device or pipe leads
  /// anywhere: the kernel resolves beneath the directory (openat2), or each component is opened by itself without
  /// following links where openat2 is missing (before Linux 5.6, or filtered).
  OpenResult open(std::string_view path, std::uint64_t max_size) const;

  /// For tests: take the way of kernels without openat2.
  void avoid_openat2() { use_openat2_ = false; }

 private:
  int open_beneath(const std::string& path) const;
  int open_by_component(const std::string& path) const;
  int directory_ = -1;
  bool use_openat2_ = true;
};

/// Why `path` may not be asked for at all; empty when it may.
std::string path_problem(std::string_view path);

}  // namespace homa::tools
