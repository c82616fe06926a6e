// The files of one directory, read only, for `homa serve --files`: nothing outside of it can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace homa::tools {

/// One open file, its bytes in memory: mapped, so that a large file costs no copy.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Outcome of FileTree::open(): a file, or one line that says why not (for the peer: it names no path of ours).
struct OpenResult {
  MappedFile file;
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
