#include "testing/packet_kind.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <variant>

#include "wire/native.h"

namespace homa::sim {
namespace {

struct KindOf {
  std::uint32_t operator()(const wire::DataPacket& p) const {
    return kData | (p.offset == 0 ? kDataFirst : 0u) | (p.retransmission ? kDataAgain : 0u);
  }
  std::uint32_t operator()(const wire::GrantPacket& p) const { return kGrant | (p.hold ? kHold : 0u); }
  std::uint32_t operator()(const wire::AckPacket&) const { return kAck; }
  std::uint32_t operator()(const wire::HelloPacket& p) const { return p.is_ack ? kHelloAck : kHello; }
  std::uint32_t operator()(const wire::NoAssociationPacket&) const { return kNoAssociation; }
  std::uint32_t operator()(const wire::ClosePacket&) const { return kClose; }
  std::uint32_t operator()(const wire::PingPacket&) const { return kPing; }
  std::uint32_t operator()(const wire::MtuProbePacket&) const { return kMtuProbe; }
  std::uint32_t operator()(const wire::CryptoPacket&) const { return kCrypto; }
  std::uint32_t operator()(const wire::CutoffsPacket&) const { return kCutoffs; }
  std::uint32_t operator()(const wire::AbortPacket& p) const { return p.is_aborted ? kAborted : kAbort; }
  std::uint32_t operator()(const wire::ReleasePacket&) const { return kRelease; }
  template <typename Native>
  std::uint32_t operator()(const Native&) const {
    return kUnreadable;
  }
};

std::string name(wire::RpcId id) {
  return fmt::format("{}.{}", id.slot(), id.generation());
}

struct Describe {
  std::string operator()(const wire::DataPacket& p) const {
    std::string text = fmt::format("DATA {} [{}..{}) of {}{}", name(p.id), p.offset, p.offset + p.payload.size,
                                   p.message_length, p.retransmission ? " again" : "");
    if (p.first) {
      text += fmt::format(" first(incoming {} class {}{}{} deadline {}us)", p.incoming, p.message_class,
                          (p.call_flags & wire::kCallOneWay) != 0 ? " one-way" : "",
                          (p.call_flags & wire::kCallIdempotent) != 0 ? " idempotent" : "", p.deadline_us);
    }
    return text;
  }
  std::string operator()(const wire::GrantPacket& p) const {
    return fmt::format("GRANT {} to {} at p{}{}", name(p.id), p.offset, index(p.priority), p.hold ? " HOLD" : "");
  }
  std::string operator()(const wire::AckPacket& p) const {
    std::string text = fmt::format("ACK lane {} largest {} delay {}ns", p.lane, p.largest, p.delay_ns);
    for (std::size_t i = 0; i < p.range_count; ++i) {
      text +=
          i == 0 ? fmt::format(" {}", p.ranges[i].length) : fmt::format(" -{}+{}", p.ranges[i].gap, p.ranges[i].length);
    }
    return text;
  }
  std::string operator()(const wire::HelloPacket& p) const {
    return fmt::format("{} source {:016x} incarnation {:016x} slots {}", p.is_ack ? "HELLO_ACK" : "HELLO",
                       p.source.value, p.incarnation, p.slots);
  }
  std::string operator()(const wire::NoAssociationPacket& p) const {
    return fmt::format("NO_ASSOCIATION echo {} incarnation {:016x}", p.packet_number, p.incarnation);
  }
  std::string operator()(const wire::ClosePacket& p) const { return fmt::format("CLOSE {}", p.code); }
  std::string operator()(const wire::PingPacket&) const { return "PING"; }
  std::string operator()(const wire::MtuProbePacket& p) const {
    return fmt::format("MTU_PROBE padding {}", p.padding_length);
  }
  std::string operator()(const wire::CryptoPacket& p) const {
    return fmt::format("CRYPTO [{}..{})", p.offset, p.offset + p.payload.size);
  }
  std::string operator()(const wire::CutoffsPacket& p) const { return fmt::format("CUTOFFS version {}", p.version); }
  std::string operator()(const wire::AbortPacket& p) const {
    return fmt::format("{} {} code {}", p.is_aborted ? "ABORTED" : "ABORT", name(p.id), static_cast<int>(p.code));
  }
  std::string operator()(const wire::ReleasePacket& p) const { return fmt::format("RELEASE {}", name(p.id)); }
  template <typename Native>
  std::string operator()(const Native&) const {
    return "native packet";
  }
};

std::string unreadable(ByteView datagram, wire::DecodeError error) {
  std::string text = fmt::format("unreadable: {}:", wire::to_string(error));
  for (std::size_t i = 0; i < std::min<std::size_t>(datagram.size, 120); ++i) {
    text += fmt::format("{}{:02x}", i % 4 == 0 ? " " : "", static_cast<unsigned>(datagram.data[i]));
  }
  return text;
}

}  // namespace

std::uint32_t kinds_of(const wire::Packet& packet) {
  return std::visit(KindOf(), packet);
}

std::uint32_t kinds_of(const wire::Frame& frame) {
  std::uint32_t kinds = 0;
  for (std::size_t i = 0; i < frame.packet_count; ++i) kinds |= kinds_of(frame.packets[i]);
  return kinds;
}

std::string describe(const wire::Frame& frame) {
  std::string text = fmt::format("lane {} #{} to {:016x}{}", index(frame.header.lane), frame.header.packet_number,
                                 frame.header.destination.value, frame.header.reversed ? " reversed" : "");
  for (std::size_t i = 0; i < frame.packet_count; ++i) {
    text += i == 0 ? ": " : " | ";
    text += std::visit(Describe(), frame.packets[i]);
  }
  return text;
}

std::string describe(ByteView datagram) {
  auto frame = std::make_unique<wire::Frame>();
  const wire::DecodeError error = wire::decode_frame(datagram, *frame);
  return error == wire::DecodeError::none ? describe(*frame) : unreadable(datagram, error);
}

std::string describe_native(ByteView packet) {
  wire::NativeHeader header;
  wire::Packet decoded;
  const wire::DecodeError error = wire::decode_native(packet, header, decoded);
  if (error != wire::DecodeError::none) return unreadable(packet, error);
  return fmt::format("native from {}: {}", header.from_server ? "server" : "client", std::visit(Describe(), decoded));
}

}  // namespace homa::sim
