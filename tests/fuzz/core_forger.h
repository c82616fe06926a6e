// Packets that nobody's state machine made, drawn from the fuzzer's input.
#pragma once

#include <cstdint>
#include <vector>

#include "input.h"
#include "wire/datagram.h"

namespace homa::fuzz {

/// A HELLO with any numbers in it. Incarnations are drawn from those below `incarnations`.
wire::HelloPacket draw_hello(Input& input, std::uint64_t incarnations);
/// Any packet but MTU_PROBE.
wire::Packet draw_packet(Input& input, std::uint64_t incarnations);
/// The frame's bytes, payloads included.
std::vector<std::byte> frame_of(const wire::FrameHeader& header, const std::vector<wire::Packet>& packets);

}  // namespace homa::fuzz
