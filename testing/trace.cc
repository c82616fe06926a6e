#include "testing/trace.h"

#include <fmt/format.h>

#include "base/address_text.h"
#include "testing/packet_kind.h"

namespace homa::sim {

std::string to_string(Time time) {
  const auto ns = time.time_since_epoch().count();
  return fmt::format("{}.{:03}us", ns / 1000, ns % 1000);
}

void TraceHash::add(const Parcel& parcel, std::uint64_t what) {
  std::uint64_t h = value_ ^ static_cast<std::uint64_t>(loop_.now().time_since_epoch().count());
  h = mix64(h + what) ^ hash(parcel.from, 1);
  h = mix64(h + parcel.size()) ^ hash(parcel.to, 2);
  // The first bytes hold the frame header and the first packet's header: what the protocol decided.
  for (std::size_t i = 0; i < parcel.bytes.size() && i < 64; ++i)
    h = h * 31 + static_cast<std::uint64_t>(parcel.bytes[i]);
  value_ = mix64(h);
}

void TraceWriter::line(const char* what, const Parcel& parcel, const char* reason) {
  const std::string content = parcel.native ? describe_native(parcel.view()) : describe(parcel.view());
  fmt::print(out_, "{:>16} {} {} -> {} p{} {}B{}{}{} {}\n", to_string(loop_.now()), what, format(parcel.from),
             format(parcel.to), index(parcel.priority), parcel.size(), parcel.ecn == Ecn::ce ? " CE" : "",
             parcel.hostile ? " hostile" : "", parcel.duplicate ? " copy" : "",
             reason == nullptr ? content : fmt::format("[{}] {}", reason, content));
}

void TraceWriter::note(const std::string& who, const std::string& text) {
  fmt::print(out_, "{:>16}      {}: {}\n", to_string(loop_.now()), who, text);
}

}  // namespace homa::sim
