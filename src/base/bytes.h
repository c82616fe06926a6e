// Views of memory. Like std::span, but usable from the C++17 builds that include the protocol facade.
#pragma once

#include <cstddef>
#include <cstdint>

namespace homa {

/// Bytes owned by somebody else. The name of the parameter or member says until when they stay valid.
struct ByteView {
  const std::byte* data = nullptr;
  std::size_t size = 0;
};

struct MutableByteView {
  std::byte* data = nullptr;
  std::size_t size = 0;
  constexpr operator ByteView() const { return {data, size}; }  // NOLINT(google-explicit-constructor)
};

}  // namespace homa
