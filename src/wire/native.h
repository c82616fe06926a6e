// Codec of native packets (docs/wire.md section 7): one packet is the payload of one IP packet of protocol 146, laid
// out as the Linux kernel's Homa module lays it out.
//
// Stateless free functions. What Linux sends decodes and encodes again to the same bytes. Priority is not in the
// packet: it travels in the IP header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/address.h"
#include "base/bytes.h"
#include "wire/decode_error.h"
#include "wire/packet.h"

namespace homa::wire {

inline constexpr int kNativeIpProtocol = 146;
inline constexpr std::size_t kNativeCommonSize = 28;
inline constexpr std::size_t kNativeDataHeaderSize = 56;
inline constexpr std::size_t kNativeGrantSize = 33;
inline constexpr std::size_t kNativeResendSize = 37;
inline constexpr std::size_t kNativeCutoffsSize = 62;
inline constexpr std::size_t kNativeAckSize = 80;  ///< Linux always sends all 5 slots
inline constexpr std::size_t kNativeMaxHeaderSize = kNativeAckSize;

/// Servers have ports below this one, clients from it up. 0 is nobody's.
inline constexpr std::uint16_t kNativeFirstClientPort = 32768;

/// Where a DATA packet says its offset.
enum class OffsetPlace : std::uint8_t {
  both,           ///< sequence and offset field: every receiver understands it (Linux: retransmissions)
  sequence_only,  ///< the offset field is 0xffffffff (Linux: first transmission, unsegmented)
  segmented,      ///< the offset field; the sequence is that of the train's first packet
};

/// What a native packet has beside the internal form. The bytes not named here are constant when sent and ignored when
/// received.
struct NativeHeader {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  bool from_server = false;    ///< low bit of the sender id: the sender is the RPC's server
  std::uint16_t checksum = 0;  ///< as on the wire; see native_checksum
  // DATA only.
  OffsetPlace offset_place = OffsetPlace::both;
  std::uint32_t train_offset = 0;  ///< the sequence field of a segmented packet
};

/// Decodes one IP payload. On error the outputs are unspecified. The payload view points into `ip_payload`.
/// The checksum is not verified: frames cut up by Linux itself carry wrong ones. DATA comes with `first` set, since
/// every native DATA packet has the message-wide fields. CUTOFFS may be in any order.
[[nodiscard]] DecodeError decode_native(ByteView ip_payload, NativeHeader& header, Packet& packet);

/// Header bytes of the packet (DATA's payload not counted). 0 for packets of the datagram carrier only.
[[nodiscard]] std::size_t native_size(const Packet& packet);

/// Writes the packet's header at `out` and returns its size; the caller appends the payload. The checksum is written
/// as given. Precondition: native_size(packet) bytes are writable; every field is within its wire range.
std::size_t encode_native(const NativeHeader& header, const Packet& packet, std::byte* out);

/// The TCP checksum of the packet over a pseudo header with protocol 6, as Linux sends it. The checksum field itself
/// counts as 0. Preconditions: both hosts are of one family; header.size is even or the payload empty.
[[nodiscard]] std::uint16_t native_checksum(const HostAddress& source, const HostAddress& destination, ByteView header,
                                            ByteView payload);

/// Puts a checksum into an encoded header.
void store_native_checksum(std::byte* header, std::uint16_t checksum);

}  // namespace homa::wire
