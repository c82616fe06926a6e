#include "file_tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
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

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

FileContent OpenFile::read() const {
  FileContent content;
  content.data.reset(new (std::nothrow) std::byte[size_]);
  if (content.data == nullptr) {
    content.refusal = "no memory for it";
    return content;
  }
  while (content.size < size_) {
    const ssize_t got =
        ::pread(descriptor_, content.data.get() + content.size, size_ - content.size, static_cast<off_t>(content.size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      content.refusal = got < 0 ? std::strerror(errno) : "it shrank while it was read";
      return content;
    }
    content.size += static_cast<std::size_t>(got);
  }
  return content;
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
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  OpenFile opened(file, regular ? static_cast<std::size_t>(status.st_size) : 0);
  if (!regular) {
    result.refusal = "not a regular file";
  } else if (opened.size() > max_size) {
    result.refusal =
        fmt::format("the file has {} bytes, more than the {} that a message may have", opened.size(), max_size);
  } else {
    result.file = std::move(opened);
  }
  return result;
}

}  // namespace homa::tools
