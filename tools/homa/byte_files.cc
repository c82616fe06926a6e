#include "byte_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools {

std::vector<std::byte> read_input(const std::string& path, std::uint64_t limit) {
  const bool is_stdin = path == "-";
  const int descriptor = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto unreadable = [&] {
    return usage_failure(fmt::format("cannot read '{}': {}; give a file that you may read, or - for stdin",
                                     is_stdin ? "stdin" : path, std::strerror(errno)));
  };
  if (descriptor < 0) throw unreadable();
  constexpr std::size_t kChunk = 1 << 20;
  std::vector<std::byte> bytes;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    bytes.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), limit)) +
                  kChunk);
  }
  int error = 0;
  for (std::size_t size = 0; bytes.size() <= limit;) {
    bytes.resize(size + kChunk);
    const ssize_t got = ::read(descriptor, bytes.data() + size, kChunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got <= 0 || size > limit) {
      bytes.resize(size);
      break;
    }
  }
  if (!is_stdin) ::close(descriptor);
  if (error != 0) {
    errno = error;
    throw unreadable();
  }
  if (bytes.size() > limit) {
    throw usage_failure(
        fmt::format("'{}' is longer than the limit of {} bytes; send less, or raise --max-message at both ends",
                    is_stdin ? "stdin" : path, limit));
  }
  return bytes;
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const auto fail = [&](int error) {
    throw usage_failure(
        fmt::format("cannot write '{}': {}; choose a place that you may write to", path_, std::strerror(error)));
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(status)) fail(EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);  // a device or pipe: there is nothing to rename
    if (descriptor_ < 0) fail(errno);
    return;
  }
  // A link keeps its place: what it points to is replaced.
  if (std::filesystem::is_symlink(path_, ignored)) path_ = std::filesystem::weakly_canonical(path_, ignored).string();
  const std::filesystem::path place(path_);
  temporary_ = (place.parent_path() / fmt::format(".{}.XXXXXX", place.filename().string())).string();
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, std::filesystem::exists(status) ? static_cast<mode_t>(status.permissions()) : 0666 & ~mask);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  if (is_plain()) ::unlink(temporary_.c_str());
}

void OutputFile::commit(const std::byte* data, std::size_t size) {
  write_all(data, size);
  if (!is_plain()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw Failure(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  }
  temporary_.clear();
}

void OutputFile::write_all(const std::byte* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Failure(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace homa::tools
