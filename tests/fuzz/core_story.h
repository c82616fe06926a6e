// With CORE_FUZZER_TRACE in the environment a replayed input tells its story on the standard error output.
#pragma once

#include <cstdlib>

#include "core_host.h"

namespace homa::fuzz {

inline const bool kTell = std::getenv("CORE_FUZZER_TRACE") != nullptr;

/// What one endpoint says of its packets and decisions.
class Story final : public protocol::TraceSink {
 public:
  explicit Story(int who) : who_(who) {}
  void trace(Time now, const char* text) override;

 private:
  int who_;
};

void tell_frame(Time now, const char* verb, ByteView bytes, const Address& to);
void tell_usage(const Host& host);

}  // namespace homa::fuzz
