// Network namespaces of a test: nameless, so that the kernel removes them with all that is in them when the test ends,
// however it ends.
//
// Needs root, or user namespaces that anybody may make. Needs the `ip` command.
#pragma once

#include <functional>
#include <string>

namespace homa::test {

/// Why namespaces cannot be had here; empty when they can. Call before the process has threads: without root it moves
/// the process into a user namespace of its own.
std::string prepare_namespaces();

class NetNamespace {
 public:
  /// With loopback up. Throws std::runtime_error: tests cannot go on without.
  NetNamespace();
  ~NetNamespace();
  NetNamespace(const NetNamespace&) = delete;
  NetNamespace& operator=(const NetNamespace&) = delete;

  /// Runs `body` inside and waits for it. Sockets that it opens stay inside for ever.
  void run(const std::function<void()>& body) const;
  /// Runs a shell command inside; false when it fails.
  bool try_shell(const std::string& command) const;
  /// The same, throwing with the command's words when it fails.
  void shell(const std::string& command) const;
  /// A name of this namespace for `ip link set ... netns`.
  std::string path() const;

 private:
  int fd_ = -1;
};

/// Hosts a and b joined by a veth pair: va 10.77.0.1 fd77::1, vb 10.77.0.2 fd77::2.
struct TwoHosts {
  NetNamespace a;
  NetNamespace b;
  TwoHosts();
};

}  // namespace homa::test
