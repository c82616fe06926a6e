#include "namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace homa::test {
namespace {

bool write_file(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return ok;
}

/// Output and exit code of a shell command, which inherits the namespace of the calling thread.
bool shell_here(const std::string& command, std::string& output) {
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return false;
  char buffer[512];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  return pclose(pipe) == 0;
}

}  // namespace

std::string prepare_namespaces() {
  if (geteuid() != 0) {
    const std::string uid = std::to_string(geteuid());
    const std::string gid = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER) != 0) return std::string("not root, and user namespaces: ") + std::strerror(errno);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", "0 " + uid + " 1") ||
        !write_file("/proc/self/gid_map", "0 " + gid + " 1")) {
      return "not root, and the user namespace cannot be mapped";
    }
  }
  std::string trouble;
  std::thread([&] {
    std::string output;
    if (unshare(CLONE_NEWNET) != 0) trouble = std::string("network namespaces: ") + std::strerror(errno);
    if (trouble.empty() && !shell_here("ip link add va type veth peer name vb", output)) trouble = "no veth: " + output;
  }).join();
  return trouble;
}

NetNamespace::NetNamespace() {
  std::thread([&] {
    if (unshare(CLONE_NEWNET) == 0) fd_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  }).join();
  if (fd_ < 0) throw std::runtime_error("cannot make a network namespace");
  shell("ip link set lo up");
}

NetNamespace::~NetNamespace() {
  if (fd_ >= 0) close(fd_);
}

void NetNamespace::run(const std::function<void()>& body) const {
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      if (setns(fd_, CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter a network namespace");
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

bool NetNamespace::try_shell(const std::string& command) const {
  bool ok = false;
  run([&] {
    std::string output;
    ok = shell_here(command, output);
  });
  return ok;
}

void NetNamespace::shell(const std::string& command) const {
  run([&] {
    std::string output;
    if (!shell_here(command, output)) throw std::runtime_error(command + ": " + output);
  });
}

std::string NetNamespace::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
}

TwoHosts::TwoHosts() {
  a.shell("ip link add va type veth peer name vb netns " + b.path());
  // Links first: an IPv6 address that comes before its link answers its neighbours a second late. nodad: usable at
  // once.
  a.shell("ip link set va up");
  b.shell("ip link set vb up");
  const auto configure = [](const NetNamespace& host, const std::string& device, const std::string& last) {
    host.shell("ip addr add 10.77.0." + last + "/24 dev " + device + " && ip addr add fd77::" + last + "/64 dev " +
               device + " nodad && ip addr add fe80::" + last + "/64 dev " + device + " nodad");
  };
  configure(a, "va", "1");
  configure(b, "vb", "2");
}

}  // namespace homa::test
