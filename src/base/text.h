// printf-style text into a fixed buffer, for traces that must cost nothing when nobody listens.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdio>

namespace homa {

class TextBuffer {
 public:
  /// Formats; what does not fit is cut.
  const char* format(const char* format_string, va_list arguments) {
    std::vsnprintf(text_.data(), text_.size(), format_string, arguments);
    return text_.data();
  }

 private:
  std::array<char, 200> text_;
};

}  // namespace homa
