// Reads the recorded frames under tests/data/kernel_homa (their form: README.md there).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"
#include "wire_support.h"

namespace homa::wire::test {

struct CapturedPacket {
  std::uint64_t time_us = 0;  ///< since the first packet of the capture
  HostAddress source;
  HostAddress destination;
  int traffic_class = 0;
  int protocol = 0;
  Bytes payload;  ///< of the IP packet
};

/// All packets of one capture; empty when the file is missing. Aborts on a malformed line.
std::vector<CapturedPacket> read_capture(const std::string& name);

}  // namespace homa::wire::test
