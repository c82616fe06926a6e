#include "file_tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools {
namespace {

/// O_NONBLOCK so that a pipe in the tree cannot hang us before fstat() tells what it is.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;

std::string explain(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "no such file";
    case ELOOP:
    case EXDEV:
      return "the path leads through a symbolic link";
    case EACCES:
    case EPERM:
      return "the server may not read it";
    default:
      return std::strerror(error);
  }
}

}  // namespace

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string path_problem(std::string_view path) {
  if (path.empty()) return "empty path";
  if (path.size() >= PATH_MAX) return "path too long";
  if (path.front() == '/') return "absolute path";
  if (path.find('\0') != std::string_view::npos) return "path holds a NUL byte";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return "'..' in the path";
    begin = end + 1;
  }
  return {};
}

FileTree::FileTree(const std::string& directory) {
  directory_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) {
    throw usage_failure(
        fmt::format("cannot serve '{}': {}; give a directory that you may read", directory, std::strerror(errno)));
  }
}

FileTree::~FileTree() {
  ::close(directory_);
}

int FileTree::open_beneath(const std::string& path) const {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(kOpenFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory_, path.c_str(), &how, sizeof how));
}

int FileTree::open_by_component(const std::string& path) const {
  int at = ::dup(directory_);
  for (std::size_t begin = 0; at >= 0 && begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string component = path.substr(begin, end - begin);
    begin = end + 1;
    if (component.empty() || component == ".") continue;
    const bool last = begin >= path.size();
    const int next = ::openat(at, component.c_str(), last ? kOpenFlags : (kOpenFlags | O_DIRECTORY));
    const int error = errno;
    ::close(at);
    errno = error;
    at = next;
  }
  return at;
}

OpenResult FileTree::open(std::string_view path, std::uint64_t max_size) const {
  OpenResult result;
  result.refusal = path_problem(path);
  if (!result.refusal.empty()) return result;
  const std::string name(path);
  int file = use_openat2_ ? open_beneath(name) : open_by_component(name);
  if (file < 0 && use_openat2_ && (errno == ENOSYS || errno == EPERM)) file = open_by_component(name);
  if (file < 0) {
    result.refusal = explain(errno);
    return result;
  }
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    result.refusal = "not a regular file";
  } else if (static_cast<std::uint64_t>(status.st_size) > max_size) {
    result.refusal =
        fmt::format("the file has {} bytes, more than the {} that a message may have", status.st_size, max_size);
  } else if (status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      result.refusal = std::strerror(errno);
    } else {
      result.file = MappedFile(static_cast<const std::byte*>(mapped), size);
    }
  }
  ::close(file);
  return result;
}

}  // namespace homa::tools
