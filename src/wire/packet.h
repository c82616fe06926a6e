// The internal form of every packet: what both codecs (datagram.h, native.h) decode to and encode from.
//
// Plain values; no thread rule. Views point into the datagram that was decoded and live as long as it does.
// Byte layouts: docs/wire.md. Numbers are in host byte order here, offsets and lengths 64 bit wide.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "base/bytes.h"
#include "base/units.h"

namespace homa::wire {

/// Largest message length and offset that 48 bits on the wire can say.
inline constexpr std::uint64_t kMaxMessageLength = (std::uint64_t{1} << 48) - 1;

/// Names one RPC, or one one-way message, between two endpoints.
/// Datagram carrier: generation << 16 | slot. Native carrier: the rpcid without its low bit, shifted right by one.
struct RpcId {
  std::uint64_t value = 0;
  static constexpr RpcId of(std::uint16_t slot, std::uint32_t generation) {
    return {(std::uint64_t{generation} << 16) | slot};
  }
  constexpr std::uint16_t slot() const { return static_cast<std::uint16_t>(value); }
  constexpr std::uint32_t generation() const { return static_cast<std::uint32_t>(value >> 16); }
  friend constexpr bool operator==(RpcId a, RpcId b) { return a.value == b.value; }
  friend constexpr bool operator!=(RpcId a, RpcId b) { return a.value != b.value; }
};

/// The receiver-chosen 64-bit name of an association. 0 is "none yet" (HELLO).
/// Bits 63..56 name the shard of the side that chose the id, bits 55..48 the shard of its peer (docs/wire.md section
/// 2).
struct AssociationId {
  std::uint64_t value = 0;
  friend constexpr bool operator==(AssociationId a, AssociationId b) { return a.value == b.value; }
  friend constexpr bool operator!=(AssociationId a, AssociationId b) { return a.value != b.value; }
};

/// Bits of DataPacket::call_flags.
inline constexpr std::uint8_t kCallOneWay = 1;
inline constexpr std::uint8_t kCallIdempotent = 2;

/// DataPacket::response_unscheduled: no limit was asked for.
inline constexpr std::uint32_t kNoResponseLimit = 0xffffffff;

/// DataPacket::first carries what a receiver must know once per message; every packet at offset 0 has it.
struct DataPacket {
  RpcId id;
  std::uint64_t offset = 0;
  std::uint64_t message_length = 0;
  ByteView payload;
  bool retransmission = false;

  bool first = false;                ///< the fields below are on the wire
  std::uint64_t incoming = 0;        ///< the sender will send all below this offset without a grant
  std::uint16_t cutoff_version = 0;  ///< version of the cutoffs that chose this packet's priority
  std::uint32_t response_unscheduled = kNoResponseLimit;  ///< bytes of the response that may come unscheduled
  std::uint8_t message_class = 0;                         ///< most significant part of the order key, 0 is most urgent
  std::uint8_t call_flags = 0;
  std::uint32_t deadline_us = 0;  ///< microseconds that the caller still waits; 0 is for ever

  // Native carrier only: acknowledgment of an older RPC, piggybacked (0 is none).
  RpcId native_ack;
  std::uint16_t native_ack_port = 0;
};

struct GrantPacket {
  RpcId id;
  std::uint64_t offset = 0;  ///< all bytes below may be sent
  Priority priority{};
  bool hold = false;  ///< the message cannot be taken now: send nothing of it until a grant without this flag
};

/// One closed range of packet numbers, newest first in AckPacket.
struct AckRange {
  std::uint32_t gap;     ///< numbers missing between this range and the one before; 0 in the first
  std::uint32_t length;  ///< numbers acknowledged, at least 1
};

inline constexpr std::size_t kMaxAckRanges = 32;

struct AckPacket {
  AckPacket() {}               // NOLINT(modernize-use-equals-default): = default would zero `ranges` in every emplace()
  std::uint8_t lane = 0;       ///< lane byte of the frames acknowledged
  std::uint32_t delay_ns = 0;  ///< time the largest number waited at the receiver; saturates
  std::uint32_t largest = 0;   ///< low 32 bits of the largest number acknowledged
  std::uint32_t congestion_experienced = 0;  ///< frames of this lane received with ECN CE, modulo 2^32
  std::uint8_t range_count = 0;
  std::array<AckRange, kMaxAckRanges> ranges;  ///< the first range_count
};

struct HelloPacket {
  bool is_ack = false;  ///< HELLO_ACK
  std::uint16_t slots = 0;
  AssociationId source;
  std::uint64_t incarnation = 0;
  std::uint64_t max_message_length = 0;
  std::uint16_t max_datagram = 0;       ///< largest UDP payload that the sender takes
  std::uint32_t unscheduled_bytes = 0;  ///< per message, that the sender takes without a grant
  std::uint8_t version_min = 0;
  std::uint8_t version_max = 0;
  std::uint16_t max_ack_delay_us = 0;
  std::uint32_t idle_timeout_ms = 0;
  std::uint32_t peer_timeout_ms = 0;  ///< silence after which the sender gives up what a client has under way there
};

struct NoAssociationPacket {
  std::uint32_t packet_number = 0;  ///< echo
  std::uint64_t incarnation = 0;
};

struct ClosePacket {
  std::uint16_t code = 0;  ///< a CloseCode, or one not known yet
  std::uint64_t incarnation = 0;
};

struct PingPacket {};

struct MtuProbePacket {
  std::uint16_t padding_length = 0;
};

struct CryptoPacket {
  std::uint64_t offset = 0;
  ByteView payload;
};

struct CutoffsPacket {
  std::uint16_t version = 0;
  /// Non-increasing; a message goes unscheduled at the largest i with cutoffs[i] >= length. 0xffffffff is infinity.
  /// Over the native carrier in any order: Linux puts 0 into the levels that it does not use for unscheduled data.
  std::array<std::uint32_t, kPriorityLevels> cutoffs{};
  RpcId native_id;  ///< native carrier only: the RPC whose DATA had an old version
};

/// Why a call ended early, as said on the wire (docs/wire.md section 5).
enum class AbortCode : std::uint16_t {
  cancelled = 1,       ///< the caller lost interest
  expired = 2,         ///< the deadline passed
  too_long = 3,        ///< longer than the receiver's limit
  no_handler = 4,      ///< nobody serves this kind of message here
  handler_failed = 5,  ///< the application refused or failed
  discarded = 6,       ///< acknowledged data was thrown away
  protocol = 7,        ///< the peer contradicted itself
  shutting_down = 8,
};

/// Why an association ended, as said on the wire (docs/wire.md section 5).
enum class CloseCode : std::uint16_t {
  shutting_down = 1,
  idle = 2,      ///< forgotten after silence, with nothing running
  replaced = 3,  ///< a newer association of the same two took over
  protocol = 4,  ///< the peer contradicted itself
  version = 5,   ///< none in common
};

struct AbortPacket {
  RpcId id;
  AbortCode code = AbortCode::cancelled;
  bool is_aborted = false;  ///< ABORTED, the answer: the slot may be used again
};

struct ReleasePacket {
  RpcId id;
};

// Native carrier only.
struct ResendPacket {
  RpcId id;
  std::uint32_t offset = 0;
  std::int32_t length = 0;  ///< -1: nothing was received, resend all that was sent
  Priority priority{};
};
struct RpcUnknownPacket {
  RpcId id;
};
struct BusyPacket {
  RpcId id;
};
struct FreezePacket {
  RpcId id;
};
struct NeedAckPacket {
  RpcId id;
};
struct NativeAckPacket {
  struct Entry {
    std::uint64_t raw_id = 0;  ///< as on the wire, low bit included
    std::uint16_t server_port = 0;
  };
  RpcId id;
  std::uint16_t count = 0;
  std::array<Entry, 5> entries{};
};

using Packet = std::variant<DataPacket, GrantPacket, AckPacket, HelloPacket, NoAssociationPacket, ClosePacket,
                            PingPacket, MtuProbePacket, CryptoPacket, CutoffsPacket, AbortPacket, ReleasePacket,
                            ResendPacket, RpcUnknownPacket, BusyPacket, FreezePacket, NeedAckPacket, NativeAckPacket>;

}  // namespace homa::wire
