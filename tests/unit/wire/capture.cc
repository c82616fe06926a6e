#include "capture.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace homa::wire::test {
namespace {

HostAddress host_of(const std::string& hex) {
  const Bytes bytes = bytes_of(hex);
  HostAddress host = HostAddress::v4(0, 0, 0, 0);
  std::memcpy(host.ip.data() + 16 - bytes.size(), bytes.data(), bytes.size());
  return host;
}

void append_counting_words(Bytes& bytes, unsigned long count) {
  std::uint32_t word = 0;  // little-endian, as the machine that recorded; so are those that run this test
  for (; count > 0; --count) {
    std::memcpy(&word, bytes.data() + bytes.size() - 4, 4);
    ++word;
    bytes.resize(bytes.size() + 4);
    std::memcpy(bytes.data() + bytes.size() - 4, &word, 4);
  }
}

// Hex digits; (n): n zero bytes; [n]: n little-endian 32-bit words, each one more than the word before it.
Bytes unpack(const std::string& text) {
  Bytes bytes;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c != '(' && c != '[') {
      const Bytes one = bytes_of(text.substr(at, 2));
      bytes.push_back(one[0]);
      at += 2;
      continue;
    }
    const std::size_t end = text.find(c == '(' ? ')' : ']', at);
    if (end == std::string::npos) std::abort();
    const unsigned long count = std::stoul(text.substr(at + 1, end - at - 1));
    if (c == '(') {
      bytes.resize(bytes.size() + count);
    } else {
      append_counting_words(bytes, count);
    }
    at = end + 1;
  }
  return bytes;
}

}  // namespace

std::vector<CapturedPacket> read_capture(const std::string& name) {
  std::ifstream file(std::string(HOMA_CAPTURE_FOLDER) + "/" + name + ".txt");
  std::vector<CapturedPacket> packets;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string source, destination, payload;
    CapturedPacket packet;
    words >> packet.time_us >> source >> destination >> std::hex >> packet.traffic_class >> std::dec >>
        packet.protocol >> payload;
    if (!words) std::abort();
    packet.source = host_of(source);
    packet.destination = host_of(destination);
    packet.payload = unpack(payload);
    packets.push_back(std::move(packet));
  }
  return packets;
}

}  // namespace homa::wire::test
