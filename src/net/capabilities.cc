#include "net/capabilities.h"

#include <algorithm>
#include <bit>

namespace homa::net {
namespace {

std::string line(const char* name, bool value) {
  return std::string(name) + ": " + (value ? "yes" : "no") + "\n";
}

std::string line(const char* name, const BufferSize& size) {
  return std::string(name) + ": " + std::to_string(size.effective) + " bytes (asked " + std::to_string(size.asked) +
         ", limit " + (size.limit == 0 ? std::string("unknown") : std::to_string(size.limit)) + ")\n";
}

std::string advice(const char* which, const char* sysctl, const BufferSize& size) {
  if (size.sufficient()) return {};
  const std::string wanted = std::to_string(size.asked / 2);
  return std::string(which) + " buffer: the kernel gave " + std::to_string(size.effective) + " of " +
         std::to_string(size.asked) + " bytes; bursts beyond it are lost. Set: sysctl -w " + sysctl + "=" + wanted +
         "\n";
}

}  // namespace

std::string to_text(GsoState state) {
  switch (state) {
    case GsoState::usable:
      return "usable";
    case GsoState::forced_off:
      return "off by option";
    case GsoState::not_in_kernel:
      return "not in this kernel";
    case GsoState::refused:
      return "off: a segmented send was refused where single datagrams passed";
  }
  return "unknown";
}

std::string Capabilities::to_text() const {
  return line("ipv6", ipv6) + line("dual stack", dual_stack) + "segmented send (GSO): " + net::to_text(gso) + "\n" +
         line("coalesced receive (GRO)", gro) + line("packet info", packet_info) +
         line("receive drop counter", drop_counter) + line("error queue", error_queue) + line("tos", tos) +
         line("path MTU probing", path_mtu_probe) + line("busy poll", busy_poll) +
         line("receive buffer", buffers.receive) + line("send buffer", buffers.send);
}

std::string buffer_advice(const BufferSizes& sizes) {
  return advice("receive", "net.core.rmem_max", sizes.receive) + advice("send", "net.core.wmem_max", sizes.send);
}

std::size_t payload_capacity(std::size_t effective, std::size_t datagram_size) {
  // The head of a packet is rounded up to a power of two by most drivers: link, IP and UDP headers with headroom
  // (about 128), payload, shared info (320). Small ones come from a cache of heads of 576 to 704 bytes. Then the
  // packet descriptor (256).
  const std::size_t head = std::max<std::size_t>(704, std::bit_ceil(datagram_size + 128 + 320));
  const std::size_t charge = head + 256;
  return effective / charge * datagram_size;
}

}  // namespace homa::net
