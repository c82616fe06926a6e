#include "core_story.h"

#include <cstdio>

namespace homa::fuzz {
namespace {

double seconds(Time time) {
  return static_cast<double>(time.time_since_epoch().count()) / 1e9;
}

unsigned long long printable(std::uint64_t number) {
  return number;
}

}  // namespace

void Story::trace(Time now, const char* text) {
  std::fprintf(stderr, "%13.6f %d %s\n", seconds(now), who_, text);
}

void tell_frame(Time now, const char* verb, ByteView bytes, const Address& to) {
  static wire::Frame frame;
  if (wire::decode_frame(bytes, frame) != wire::DecodeError::none) return;
  std::fprintf(stderr, "%13.6f %s at %d lane %d number %u:", seconds(now), verb, int{to.host.ip[15]} - 1,
               index(frame.header.lane), frame.header.packet_number);
  for (std::size_t i = 0; i < frame.packet_count; ++i) {
    std::fprintf(stderr, " kind%zu", frame.packets[i].index());
    if (const auto* data = std::get_if<wire::DataPacket>(&frame.packets[i])) {
      std::fprintf(stderr, "(slot %d.%u %llu+%zu of %llu)", data->id.slot(), data->id.generation(),
                   printable(data->offset), data->payload.size, printable(data->message_length));
    }
  }
  std::fprintf(stderr, "\n");
}

void tell_usage(const Host& host) {
  const protocol::Endpoint::Usage usage = host.endpoint->usage();
  std::fprintf(stderr, "calls %llu requests %llu receive %llu incoming %llu send %llu, deadline %.6f\n",
               printable(usage.calls), printable(usage.requests), printable(usage.receive_memory),
               printable(usage.incoming), printable(usage.send_memory), seconds(host.endpoint->next_deadline()));
}

}  // namespace homa::fuzz
