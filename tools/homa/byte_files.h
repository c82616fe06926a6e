// Input and output of `homa call`: whole files in, and out so that nothing half-written is ever left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace homa::tools {

/// The whole file, or stdin when `path` is "-". Throws Failure when unreadable or longer than `limit`.
std::vector<std::byte> read_input(const std::string& path, std::uint64_t limit);

/// A file that appears under its name only when it is complete: written beside it first, then renamed.
class OutputFile {
 public:
  /// "-" is stdout. Throws Failure at once when the place cannot be written.
  explicit OutputFile(std::string path);
  /// Removes what was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void commit(const std::byte* data, std::size_t size);

 private:
  void write_all(const std::byte* data, std::size_t size);
  bool is_plain() const { return !temporary_.empty(); }
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace homa::tools
