// Two real endpoints talk while the input drives calls, time and a hostile network between them, and a stranger beside.
// core_world.h says what must hold; here is what may happen.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "core_forger.h"
#include "core_world.h"
#include "input.h"

namespace {

using namespace homa;
using namespace homa::fuzz;

constexpr int kMostSteps = 400;

/// Each step reads an action from the input and what it acts on.
class Actions {
 public:
  Actions(Input& input, World& world) : input_(input), world_(world) {}
  void run();

 private:
  Host& host() { return world_.host(input_.byte()); }

  void step();
  void step_of_network(std::uint8_t action);
  void start_call();
  void cancel();
  void answer();
  void rare();
  void mutate();
  void forge();
  void speak_as_stranger();

  Input& input_;
  World& world_;
};

void Actions::run() {
  for (int i = 0; i < kMostSteps && !input_.empty(); ++i) {
    step();
    world_.pump();
    world_.check();
  }
  world_.settle();
}

void Actions::step() {
  const std::uint8_t action = input_.byte() % 20;
  if (kTell) Story(0).trace(world_.now(), std::string("step ").append(std::to_string(action)).c_str());
  switch (action) {
    case 0:
    case 1:
      return start_call();
    case 10:
    case 11:
      return world_.pass(10us * (1 + input_.byte()));
    case 12:
      return world_.pass(1ms * (1 + input_.byte()));
    case 13:
      return world_.pass(100ms * (1 + input_.byte() % 64));
    case 14:
      return cancel();
    case 15:
    case 16:
      return answer();
    case 17:
      return world_.release_last(host());
    case 18:
      return rare();
    default:
      return step_of_network(action);
  }
}

void Actions::step_of_network(std::uint8_t action) {
  switch (action) {
    case 2:
    case 3:
    case 4:
      return world_.deliver(input_.byte(), false);
    case 5:
      return world_.deliver(input_.byte(), true);
    case 6:
      return world_.lose(input_.byte());
    case 7:
      return mutate();
    case 8:
      return forge();
    case 9:
      return speak_as_stranger();
    default:
      return world_.toggle_outage();
  }
}

void Actions::start_call() {
  Host& from = host();
  const std::uint64_t length = std::min<std::uint64_t>(input_.boundary(), kMaxMessage);
  const std::uint8_t flags = input_.byte();
  protocol::CallOptions options;
  options.one_way = (flags & 1u) != 0;
  options.idempotent = (flags & 2u) != 0;
  options.message_class = (flags & 4u) != 0 ? 1 : 0;
  if ((flags & 8u) != 0) options.deadline = world_.now() + 1ms * (1 + input_.byte());
  world_.call(from, length, options);
}

void Actions::cancel() {
  Host& who = host();
  if (who.calls.empty()) return;
  const auto call = std::next(who.calls.begin(), input_.byte() % static_cast<std::ptrdiff_t>(who.calls.size()));
  FUZZ_CHECK(who.endpoint->cancel(call->second, world_.now()));
}

void Actions::answer() {
  Host& who = host();
  if (who.requests.empty()) return;
  const std::uint8_t which = input_.byte();
  const std::uint64_t length = std::min<std::uint64_t>(input_.boundary(), kMaxMessage);
  if (length == kMaxMessage) return world_.refuse(who, which);
  world_.answer(who, which, length);
}

void Actions::rare() {
  const std::uint8_t what = input_.byte();
  if (what < 8) return world_.restart(host());
  if (what < 12) return world_.close(host());
  if (what < 80) return world_.deliver_all();
  if (what < 120) return world_.fail_next_send();
  Host& who = host();
  if (what >= 160) {
    who.buffers.refuse = !who.buffers.refuse;
    return;
  }
  who.endpoint->network_error(world_.other(who).address, protocol::TransmitFailure::unreachable, world_.now());
}

void Actions::mutate() {
  if (world_.wire().empty()) return;
  world_.forged();
  World::Flying& flying = world_.wire()[input_.byte() % world_.wire().size()];
  for (int i = input_.byte() % 4; i >= 0; --i) {
    const std::size_t at = input_.byte() % std::min<std::size_t>(flying.bytes.size(), 120);
    flying.bytes[at] = static_cast<std::byte>(input_.byte());
  }
}

// A frame in the name of the true peer, to an id that was seen on the wire.
void Actions::forge() {
  if (world_.seen().empty()) return;
  world_.forged();
  const World::Seen& seen = world_.seen()[input_.byte() % world_.seen().size()];
  wire::FrameHeader header = seen.header;
  const std::uint8_t how = input_.byte();
  if ((how & 1u) != 0) header.lane = Priority{static_cast<std::uint8_t>(input_.byte() & 7u)};
  if ((how & 2u) != 0) header.packet_number += input_.byte();
  if ((how & 4u) != 0) header.packet_number = static_cast<std::uint32_t>(input_.boundary());
  std::vector<wire::Packet> packets{draw_packet(input_, world_.incarnations())};
  if ((how & 8u) != 0) packets.push_back(draw_packet(input_, world_.incarnations()));
  Address from = seen.from;
  Address to = seen.to;
  if (const auto* unknown = std::get_if<wire::NoAssociationPacket>(&packets[0])) {
    // The peer claims not to know the id by which it was called.
    header.reversed = true;
    header.packet_number = unknown->packet_number;
    packets.resize(1);
    std::swap(from, to);
  }
  world_.inject({from, to, frame_of(header, packets)});
}

void Actions::speak_as_stranger() {
  World::Flying flying{world_.stranger(), host().address, {}};
  const std::uint8_t how = input_.byte();
  wire::FrameHeader header;
  std::vector<wire::Packet> packets;
  if ((how & 1u) != 0 && !world_.seen().empty()) {
    header = world_.seen()[input_.byte() % world_.seen().size()].header;
    packets.push_back(draw_packet(input_, world_.incarnations()));
  } else {
    header.lane = Priority{static_cast<std::uint8_t>(input_.byte() & 7u)};
    header.packet_number = input_.byte();
    packets.push_back(draw_hello(input_, world_.incarnations()));
    if ((how & 2u) != 0) packets.push_back(draw_packet(input_, world_.incarnations()));
  }
  flying.bytes = frame_of(header, packets);
  world_.inject_from_stranger(flying);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  World world(input.byte());
  Actions(input, world).run();
  return 0;
}
