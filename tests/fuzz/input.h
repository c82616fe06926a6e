// A fuzzer's input, read as a series of choices. An exhausted input gives zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "wire/packet.h"

namespace homa::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : data_[at_++]; }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = (value << 8) | byte();
    return value;
  }
  /// Numbers at which bounds are checked wrongly, if they are.
  std::uint64_t boundary() {
    constexpr std::uint64_t kEnd48 = wire::kMaxMessageLength;
    constexpr std::uint64_t kValues[] = {0,     1,          2,          15,         16,         1414,
                                         1415,  1452,       4000,       4001,       39999,      40000,
                                         40001, 0x7fffffff, 0x80000000, 0xffffffff, kEnd48 - 1, kEnd48};
    const std::uint8_t choice = byte();
    if (choice >= 0xe0) return number(6);
    if (choice >= 0xc0) return number(2);
    return kValues[choice % std::size(kValues)];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace homa::fuzz
