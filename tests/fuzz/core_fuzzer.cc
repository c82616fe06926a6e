// Two real endpoints talk while the input drives calls, time and a hostile network between them, and a stranger beside.
//
// Always: no crash, usage within Config, no more than thrice its bytes nor more datagrams than it sent to the stranger,
// each payload given back once, each call ended once. While no frame was forged in a peer's name (in clear such a
// forger can always make a message hang): bytes equal, at most once, and when the faults end, all calls end and memory
// returns.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "protocol/endpoint.h"

namespace {

using namespace homa;
using namespace homa::protocol;

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "core_fuzzer: %s (line %d)\n", #condition, __LINE__); \
      std::abort();                                                              \
    }                                                                            \
  } while (false)

constexpr std::size_t kMaxMessage = 40'000;
constexpr Duration kDelay = 10us;

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

class Buffers : public BufferSource {
 public:
  std::byte* allocate(std::uint64_t length) override {
    if (refuse) return nullptr;
    live += length;
    return new std::byte[length];
  }
  void release(std::byte* data, std::uint64_t length) override {
    live -= length;
    delete[] data;
  }
  std::uint64_t live = 0;
  bool refuse = false;
};

struct Payloads {
  std::vector<std::byte> pattern;
  Payloads() : pattern(kMaxMessage + 64) {
    std::uint32_t x = 1;
    for (auto& byte : pattern) byte = static_cast<std::byte>((x = x * 1664525u + 1013904223u) >> 24);
  }
};
const Payloads kPayloads;

struct Host {
  Address address;
  Config config;
  Buffers buffers;
  std::unique_ptr<Endpoint> endpoint;
  struct Outgoing {
    std::uint64_t tag = 0;
    ByteView pieces[3];
  };
  std::map<std::uint64_t, Outgoing> payloads;  // by cookie, until released
  std::map<std::uint64_t, CallId> calls;       // by cookie, until finished
  std::vector<RequestId> requests;             // to be answered
  std::vector<Message> messages;               // to be released
};

struct Flying {
  Address from;
  Address to;
  std::vector<std::byte> bytes;
};

/// With CORE_FUZZER_TRACE in the environment a replayed input tells its story.
class Story : public TraceSink {
 public:
  explicit Story(int who) : who_(who) {}
  void trace(Time now, const char* text) override {
    std::fprintf(stderr, "%13.6f %d %s\n", static_cast<double>(now.time_since_epoch().count()) / 1e9, who_, text);
  }

 private:
  int who_;
};

class World {
 public:
  explicit World(Input& input) : input_(input) {
    for (std::size_t i = 0; i < 2; ++i) {
      Host& host = hosts_[i];
      host.address = {HostAddress::v4(10, 0, 0, static_cast<std::uint8_t>(i + 1)),
                      static_cast<std::uint16_t>(1000 + i)};
      Config& config = host.config;
      config.max_message_length = kMaxMessage;
      config.slots = 4;
      config.unscheduled_bytes = 4000;
      config.receive_memory = 60'000;
      config.max_associations = 6;
      config.max_requests = 6;
      config.max_unproven_associations = 2;
      config.max_waiting_calls = 4;
      config.send_memory = 100'000;
      config.max_incoming = 20'000;
      config.overcommitment = 2;
    }
    const std::uint8_t variant = input_.byte();
    hosts_[0].config.priority_levels = std::array<std::uint8_t, 4>{8, 4, 2, 1}[variant & 3u];
    if ((variant & 4u) != 0) hosts_[1].config.unscheduled_bytes = 0;
    if ((variant & 8u) != 0) hosts_[0].config.max_message_length = 5000;
    if ((variant & 16u) != 0) hosts_[1].config.deadline_classes = 2;
    if ((variant & 32u) != 0) hosts_[0].config.uplink = Rate::gigabits_per_second(1);
    for (Host& host : hosts_) birth(host);
  }

  void run() {
    for (int i = 0; i < 400 && !input_.empty(); ++i) {
      step();
      pump();
      check();
    }
    settle();
  }

 private:
  void birth(Host& host) {
    host.config.incarnation = ++lives_;
    host.endpoint = std::make_unique<Endpoint>(host.config, lives_, host.buffers);
    if (kTell) host.endpoint->set_trace(&host == &hosts_[0] ? &stories_[0] : &stories_[1]);
  }
  Host& host() { return hosts_[input_.byte() & 1u]; }
  Host& other(const Host& host) { return &host == &hosts_[0] ? hosts_[1] : hosts_[0]; }

  void step() {
    const std::uint8_t op = input_.byte();
    if (kTell) stories_[0].trace(now_, std::string("step ").append(std::to_string(op % 20)).c_str());
    switch (op % 20) {
      case 0:
      case 1:
        return start_call();
      case 2:
      case 3:
      case 4:
        return deliver(input_.byte(), false);
      case 5:
        return deliver(input_.byte(), true);  // and stays on the wire: a duplicate
      case 6:
        if (!wire_.empty()) wire_.erase(wire_.begin() + static_cast<std::ptrdiff_t>(input_.byte() % wire_.size()));
        return;
      case 7:
        return mutate();
      case 8:
        return forge();
      case 9:
        return hostile();
      case 10:
      case 11:
        return pass(Duration((1 + input_.byte()) * 10'000));
      case 12:
        return pass(1ms * (1 + input_.byte()));
      case 13:
        return pass(100ms * (1 + input_.byte() % 64));
      case 14: {
        Host& who = host();
        if (who.calls.empty()) return;
        auto call = who.calls.begin();
        std::advance(call, input_.byte() % who.calls.size());
        CHECK(who.endpoint->cancel(call->second, now_));
        return;
      }
      case 15:
      case 16:
        return answer(host());
      case 17: {
        Host& who = host();
        if (who.messages.empty()) return;
        who.endpoint->release_message(who.messages.back(), now_);
        who.messages.pop_back();
        return;
      }
      case 18: {
        const std::uint8_t what = input_.byte();
        if (what < 8) return restart(hosts_[1]);
        if (what < 80) return flush();
        if (what < 120) {
          fail_next_ = true;
          return;
        }
        if (what < 160) {
          Host& who = host();
          return who.endpoint->network_error(other(who).address, TransmitFailure::unreachable, now_);
        }
        Host& who = host();
        who.buffers.refuse = !who.buffers.refuse;
        return;
      }
      case 19:
        drop_all_ = !drop_all_;
        return;
    }
  }

  Payload payload(Host& from, std::uint64_t length) {
    const std::uint64_t cookie = ++cookies_;
    Host::Outgoing& out = from.payloads[cookie];
    out.tag = cookie;
    const std::size_t tag = std::min<std::uint64_t>(length, sizeof(out.tag));
    const std::size_t rest = static_cast<std::size_t>(length) - tag;
    out.pieces[0] = {reinterpret_cast<const std::byte*>(&out.tag), tag};
    out.pieces[1] = {kPayloads.pattern.data(), rest / 2};
    out.pieces[2] = {kPayloads.pattern.data() + rest / 2, rest - rest / 2};
    return {out.pieces, 3, length, cookie};
  }

  void start_call() {
    Host& from = host();
    const std::uint64_t length = std::min<std::uint64_t>(input_.boundary(), kMaxMessage + 1);
    const std::uint8_t flags = input_.byte();
    CallOptions options;
    options.one_way = (flags & 1u) != 0;
    options.idempotent = (flags & 2u) != 0;
    options.message_class = (flags & 4u) != 0 ? 1 : 0;
    if ((flags & 8u) != 0) options.deadline = now_ + 1ms * (1 + input_.byte());
    const Payload bytes = payload(from, length > kMaxMessage ? kMaxMessage : length);
    options.cookie = bytes.cookie;
    const StartResult result = from.endpoint->start(other(from).address, bytes, options, now_);
    if (result.error != StartError::none) {
      from.payloads.erase(bytes.cookie);
      return;
    }
    from.calls[bytes.cookie] = result.call;
    if (options.idempotent) idempotent_.insert(bytes.cookie);
  }

  void answer(Host& who) {
    if (who.requests.empty()) return;
    const std::size_t which = input_.byte() % who.requests.size();
    const RequestId request = who.requests[which];
    who.requests.erase(who.requests.begin() + static_cast<std::ptrdiff_t>(which));
    const std::uint64_t length = std::min<std::uint64_t>(input_.boundary(), kMaxMessage);
    if (length == kMaxMessage) {
      who.endpoint->refuse(request, CallStatus::refused, now_);
      return;
    }
    const Payload bytes = payload(who, length);
    if (!who.endpoint->reply(request, bytes, now_)) who.payloads.erase(bytes.cookie);
  }

  void restart(Host& who) {
    for (const Message& message : who.messages) who.endpoint->release_message(message, now_);
    who.messages.clear();
    who.endpoint.reset();
    CHECK(who.buffers.live == 0);
    who.requests.clear();
    who.calls.clear();
    who.payloads.clear();
    birth(who);
  }

  void receive(const Flying& flying) {
    if (kTell) tell("arrives", {flying.bytes.data(), flying.bytes.size()}, flying.to);
    const Datagram datagram{flying.from, flying.to.host, Ecn::not_ect, {flying.bytes.data(), flying.bytes.size()}};
    for (Host& who : hosts_) {
      if (who.address == flying.to) who.endpoint->receive(datagram, arrival_, now_);
    }
  }
  void deliver(std::size_t which, bool stays) {
    if (wire_.empty()) return;
    const std::size_t at = which % wire_.size();
    const Flying flying = wire_[at];
    if (!stays) wire_.erase(wire_.begin() + static_cast<std::ptrdiff_t>(at));
    receive(flying);
  }
  void flush() {
    for (int i = 0; i < 200 && !wire_.empty(); ++i) {
      now_ += kDelay / 10;
      deliver(0, false);
      pump();
    }
  }

  void mutate() {
    if (wire_.empty()) return;
    forged_ = true;
    Flying& flying = wire_[input_.byte() % wire_.size()];
    for (int i = input_.byte() % 4; i >= 0; --i) {
      const std::size_t at = input_.number(1) % std::min<std::size_t>(flying.bytes.size(), 120);
      flying.bytes[at] = static_cast<std::byte>(input_.byte());
    }
  }

  wire::Packet some_packet(bool hostile) {
    const wire::RpcId id =
        wire::RpcId::of(static_cast<std::uint16_t>(input_.byte() % 6), static_cast<std::uint32_t>(input_.byte() % 8));
    const std::uint8_t kind = input_.byte();
    const auto incarnation = [&] { return std::uint64_t{input_.byte() % (lives_ + 2)}; };
    switch (hostile ? 0xff : kind % 11) {
      case 0: {
        wire::AckPacket ack;
        ack.lane = input_.byte() & 7u;
        ack.delay_ns = static_cast<std::uint32_t>(input_.boundary());
        ack.largest = static_cast<std::uint32_t>(input_.byte() < 200 ? input_.byte() : input_.boundary());
        ack.range_count = static_cast<std::uint8_t>(1 + input_.byte() % 3);
        for (std::size_t i = 0; i < ack.range_count; ++i) {
          ack.ranges[i] = {i == 0 ? 0u : std::uint32_t{input_.byte()} + 1,
                           static_cast<std::uint32_t>(std::max<std::uint64_t>(1, input_.boundary()))};
        }
        return ack;
      }
      case 1:
        return wire::GrantPacket{id, input_.boundary(), Priority{static_cast<std::uint8_t>(input_.byte() & 7u)},
                                 (input_.byte() & 1u) != 0};
      case 2: {
        wire::CutoffsPacket cutoffs;
        cutoffs.version = input_.byte();
        std::uint64_t value = 0xffffffff;
        for (auto& cutoff : cutoffs.cutoffs)
          cutoff = static_cast<std::uint32_t>(value = std::min(value, input_.boundary()));
        return cutoffs;
      }
      case 3:
        return wire::AbortPacket{id, static_cast<wire::AbortCode>(input_.byte() % 10), (input_.byte() & 1u) != 0};
      case 4:
        return wire::ReleasePacket{id};
      case 5:
        return wire::PingPacket{};
      case 6:
        return wire::NoAssociationPacket{input_.byte(), incarnation()};
      case 7:
        return wire::ClosePacket{input_.byte(), incarnation()};
      case 8:
      case 9: {
        wire::DataPacket data;
        data.id = id;
        data.message_length = input_.boundary();
        data.offset = std::min(input_.boundary(), data.message_length);
        const std::uint64_t payload = std::min<std::uint64_t>(input_.boundary(), 1400);
        data.payload = {kPayloads.pattern.data(), std::min(payload, data.message_length - data.offset)};
        data.first = data.offset == 0 || data.payload.size == 0 || (input_.byte() & 1u) != 0;
        data.incoming = input_.boundary();
        data.call_flags = input_.byte() & 3u;
        data.response_unscheduled = static_cast<std::uint32_t>(input_.boundary());
        data.message_class = input_.byte();
        data.deadline_us = static_cast<std::uint32_t>(input_.boundary());
        return data;
      }
      default: {
        wire::HelloPacket hello;
        hello.is_ack = !hostile;
        hello.slots = static_cast<std::uint16_t>(input_.boundary());
        hello.source = {1 + input_.number(2)};
        hello.incarnation = incarnation();
        hello.max_message_length = input_.boundary();
        hello.max_datagram = static_cast<std::uint16_t>(input_.boundary());
        hello.unscheduled_bytes = static_cast<std::uint32_t>(input_.boundary());
        hello.version_min = hello.version_max = 1;
        hello.max_ack_delay_us = static_cast<std::uint16_t>(input_.boundary());
        hello.idle_timeout_ms = static_cast<std::uint32_t>(input_.boundary());
        return hello;
      }
    }
  }

  static std::vector<std::byte> frame_of(const wire::FrameHeader& header, const std::vector<wire::Packet>& packets) {
    std::vector<std::byte> bytes(4096);
    std::size_t at = wire::kFrameHeaderSize;
    for (const wire::Packet& packet : packets) at += wire::encode_packet(packet, bytes.data() + at);
    wire::encode_frame_header(header, at - wire::kFrameHeaderSize, bytes.data());
    bytes.resize(at);
    for (const wire::Packet& packet : packets) {
      if (const auto* data = std::get_if<wire::DataPacket>(&packet)) {
        bytes.insert(bytes.end(), data->payload.data, data->payload.data + data->payload.size);
      }
    }
    return bytes;
  }

  // A frame in the name of the true peer, to an id that was seen on the wire.
  void forge() {
    if (seen_.empty()) return;
    forged_ = true;
    const Seen& seen = seen_[input_.byte() % seen_.size()];
    wire::FrameHeader header = seen.header;
    const std::uint8_t how = input_.byte();
    if ((how & 1u) != 0) header.lane = Priority{static_cast<std::uint8_t>(input_.byte() & 7u)};
    if ((how & 2u) != 0) header.packet_number += input_.byte();
    if ((how & 4u) != 0) header.packet_number = static_cast<std::uint32_t>(input_.boundary());
    std::vector<wire::Packet> packets{some_packet(false)};
    if ((how & 8u) != 0) packets.push_back(some_packet(false));
    const auto* unknown = std::get_if<wire::NoAssociationPacket>(&packets[0]);
    Address from = seen.from;
    Address to = seen.to;
    if (unknown != nullptr) {
      // The peer claims not to know the id by which it was called.
      packets.resize(1);
      header.reversed = true;
      header.packet_number = unknown->packet_number;
      std::swap(from, to);
    }
    receive({from, to, frame_of(header, packets)});
  }

  // A stranger, who never uses an id that was told to it: its address stays unproven.
  void hostile() {
    Flying flying{stranger_, host().address, {}};
    const std::uint8_t how = input_.byte();
    if ((how & 1u) != 0 && !seen_.empty()) {
      const Seen& seen = seen_[input_.byte() % seen_.size()];
      flying.bytes = frame_of(seen.header, {some_packet(false)});
    } else {
      wire::FrameHeader header;
      header.lane = Priority{static_cast<std::uint8_t>(input_.byte() & 7u)};
      header.packet_number = input_.byte();
      std::vector<wire::Packet> packets{some_packet(true)};
      if ((how & 2u) != 0) packets.push_back(some_packet(false));
      flying.bytes = frame_of(header, packets);
    }
    wire::FrameHeader header;
    if (wire::decode_frame_header({flying.bytes.data(), flying.bytes.size()}, header) == wire::DecodeError::none) {
      if (told_.count(header.destination.value & 0xff00ffffffffffffULL) > 0) stranger_proven_ = true;
    }
    stranger_sent_ += flying.bytes.size();
    ++stranger_datagrams_;
    receive(flying);
  }

  void pass(Duration time) {
    const Time until = now_ + time;
    for (int i = 0; i < 400; ++i) {
      Time next = kNever;
      for (Host& who : hosts_) next = std::min(next, who.endpoint->next_deadline());
      if (next > until) break;
      now_ = std::max(now_ + 1us, next);
      for (Host& who : hosts_) who.endpoint->advance(now_);
      pump();
    }
    now_ = std::max(now_, until);
    for (Host& who : hosts_) who.endpoint->advance(now_);
  }

  void pump() {
    for (Host& who : hosts_) {
      events(who);
      for (int trains = 0; who.endpoint->next_transmit(now_, train_); ++trains) {
        CHECK(trains < 10'000);
        send(who);
      }
      events(who);
    }
  }

  void send(Host& who) {
    CHECK(train_.segment_count >= 1 && train_.segment_count <= kMaxTrainSegments);
    if (fail_next_ && train_.association_generation != 0 && train_.segment_size() > 1300) {
      fail_next_ = false;
      who.endpoint->transmit_failed(train_, TransmitFailure::too_big, now_);
      return;
    }
    flat_.resize(train_.total_bytes);
    CHECK(flatten(train_, flat_.data()) == train_.total_bytes);
    std::size_t at = 0;
    for (std::size_t i = 0; i < train_.segment_count; ++i) {
      const std::size_t size = train_.segments[i].size;
      CHECK(i + 1 == train_.segment_count ? size <= train_.segment_size() : size == train_.segment_size());
      note_sent(who, {flat_.data() + at, size});
      at += size;
    }
  }

  void tell(const char* verb, ByteView bytes, const Address& to) {
    static wire::Frame frame;
    if (wire::decode_frame(bytes, frame) != wire::DecodeError::none) return;
    std::fprintf(stderr,
                 "%13.6f %s at %d lane %d number %u:", static_cast<double>(now_.time_since_epoch().count()) / 1e9, verb,
                 int{to.host.ip[15]} - 1, index(frame.header.lane), frame.header.packet_number);
    for (std::size_t i = 0; i < frame.packet_count; ++i) {
      std::fprintf(stderr, " kind%zu", frame.packets[i].index());
      if (const auto* data = std::get_if<wire::DataPacket>(&frame.packets[i])) {
        std::fprintf(stderr, "(slot %d.%u %llu+%zu of %llu)", data->id.slot(), data->id.generation(),
                     static_cast<unsigned long long>(data->offset), data->payload.size,
                     static_cast<unsigned long long>(data->message_length));
      }
    }
    std::fprintf(stderr, "\n");
  }

  void note_sent(const Host& who, ByteView bytes) {
    if (kTell) tell("sent to be", bytes, train_.to);
    CHECK(wire::decode_frame(bytes, frame_) == wire::DecodeError::none);
    if (train_.to == stranger_) {
      stranger_received_ += bytes.size;
      ++stranger_answers_;
      for (std::size_t i = 0; i < frame_.packet_count; ++i) {
        if (const auto* hello = std::get_if<wire::HelloPacket>(&frame_.packets[i])) {
          told_.insert(hello->source.value & 0xff00ffffffffffffULL);
        }
      }
      CHECK(stranger_proven_ || stranger_received_ <= 3 * stranger_sent_);
      CHECK(stranger_proven_ || stranger_answers_ <= stranger_datagrams_);
      return;
    }
    if (!frame_.header.reversed && frame_.header.destination.value != 0) {
      if (seen_.size() == 16) seen_.pop_front();
      seen_.push_back({frame_.header, who.address, train_.to});
    }
    if (wire_.size() < 300 && !drop_all_) {
      wire_.push_back({who.address, train_.to, {bytes.data, bytes.data + bytes.size}});
    }
  }

  void events(Host& who) {
    Event event;
    while (who.endpoint->next_event(event, now_)) {
      if (event.message.length > 0) {
        CHECK(event.message.data != nullptr && event.message.length <= who.config.max_message_length);
        who.messages.push_back(event.message);
      }
      switch (event.kind) {
        case Event::Kind::request:
        case Event::Kind::one_way:
          if (event.peer != stranger_) judge(event.message, true);  // a stranger's bytes are its own affair
          if (event.kind == Event::Kind::request) who.requests.push_back(event.request);
          break;
        case Event::Kind::call_finished:
          CHECK(who.calls.erase(event.cookie) == 1);
          if (event.status == CallStatus::ok) judge(event.message, false);
          break;
        case Event::Kind::payload_released:
          CHECK(who.payloads.erase(event.payload_cookie) == 1);
          break;
        case Event::Kind::request_aborted:
        case Event::Kind::writable:
          break;
      }
    }
  }

  void judge(const Message& message, bool is_request) {
    if (forged_ || message.length < sizeof(std::uint64_t)) return;
    std::uint64_t tag = 0;
    std::memcpy(&tag, message.data, sizeof tag);
    CHECK(std::memcmp(message.data + sizeof tag, kPayloads.pattern.data(), message.length - sizeof tag) == 0);
    CHECK(!is_request || executed_.insert(tag).second || idempotent_.count(tag) > 0);
  }

  void check() {
    for (const Host& who : hosts_) {
      const Endpoint::Usage usage = who.endpoint->usage();
      CHECK(usage.associations <= who.config.max_associations);
      CHECK(usage.unproven_associations <= who.config.max_unproven_associations);
      CHECK(usage.requests <= who.config.max_requests);
      CHECK(usage.receive_memory <= who.config.receive_memory);
      CHECK(usage.receive_memory == who.buffers.live);
      CHECK(usage.calls == who.calls.size());
      CHECK(usage.core_memory < (4u << 20));
      std::uint64_t referenced = 0;
      for (const auto& [cookie, out] : who.payloads) {
        for (const ByteView& piece : out.pieces) referenced += piece.size;
      }
      CHECK(usage.send_memory == referenced);
    }
  }

  void answer_all(Host& who) {
    for (const Message& message : who.messages) who.endpoint->release_message(message, now_);
    who.messages.clear();
    for (const RequestId request : who.requests) {
      const Payload bytes = payload(who, 100);
      if (!who.endpoint->reply(request, bytes, now_)) who.payloads.erase(bytes.cookie);
    }
    who.requests.clear();
  }

  bool settled() const {
    return std::all_of(std::begin(hosts_), std::end(hosts_), [](const Host& who) {
      return who.endpoint->next_deadline() == kNever && who.requests.empty() && who.messages.empty();
    });
  }

  void tell_state() const {
    for (const Host& who : hosts_) {
      const Endpoint::Usage usage = who.endpoint->usage();
      std::fprintf(stderr, "calls %llu requests %llu receive %llu incoming %llu send %llu, deadline %.6f, wire %zu\n",
                   static_cast<unsigned long long>(usage.calls), static_cast<unsigned long long>(usage.requests),
                   static_cast<unsigned long long>(usage.receive_memory),
                   static_cast<unsigned long long>(usage.incoming), static_cast<unsigned long long>(usage.send_memory),
                   static_cast<double>(who.endpoint->next_deadline().time_since_epoch().count()) / 1e9, wire_.size());
    }
  }

  // The faults end. Everything that was begun ends too, and then nothing is left to do.
  void settle() {
    drop_all_ = fail_next_ = false;
    for (Host& who : hosts_) who.buffers.refuse = false;
    if (forged_) {
      for (Host& who : hosts_) {
        answer_all(who);
        who.endpoint->close(now_);
        pump();
        answer_all(who);
      }
      pass(1s);  // a timer may fire once more, for nothing
      for (Host& who : hosts_) CHECK(who.endpoint->next_deadline() == kNever);
    } else {
      const Time until = now_ + 200s;
      for (int turns = 0; now_ < until && !(wire_.empty() && settled()); ++turns) {
        CHECK(turns < 200'000);
        pump();
        if (!wire_.empty()) {
          now_ += kDelay;
          for (std::size_t i = wire_.size(); i > 0; --i) deliver(0, false);
          for (Host& who : hosts_) who.endpoint->advance(now_);
        } else {
          Time next = kNever;
          for (Host& who : hosts_) next = std::min(next, who.endpoint->next_deadline());
          if (next != kNever) now_ = std::max(now_ + 1us, next);
          for (Host& who : hosts_) who.endpoint->advance(now_);
        }
        pump();
        for (Host& who : hosts_) answer_all(who);
      }
      pump();
      if (kTell) tell_state();
      CHECK(settled());
    }
    for (const Host& who : hosts_) {
      const Endpoint::Usage usage = who.endpoint->usage();
      CHECK(who.calls.empty() && usage.calls == 0);
      CHECK(who.payloads.empty() && usage.send_memory == 0);
      CHECK(who.buffers.live == 0 && usage.receive_memory == 0);
      CHECK(usage.incoming == 0);
      CHECK(usage.requests == 0);
    }
  }

  struct Seen {
    wire::FrameHeader header;
    Address from;
    Address to;
  };
  static inline const bool kTell = std::getenv("CORE_FUZZER_TRACE") != nullptr;
  Input& input_;
  Story stories_[2] = {Story(0), Story(1)};
  Host hosts_[2];
  std::uint64_t lives_ = 0;
  std::uint64_t cookies_ = 0;
  Time now_{1s};
  std::deque<Flying> wire_;
  std::deque<Seen> seen_;
  std::vector<std::byte> flat_;
  std::set<std::uint64_t> executed_;
  std::set<std::uint64_t> idempotent_;
  bool forged_ = false;
  bool drop_all_ = false;
  bool fail_next_ = false;
  const Address stranger_{HostAddress::v4(10, 9, 9, 9), 666};
  std::uint64_t stranger_sent_ = 0;
  std::uint64_t stranger_datagrams_ = 0;
  std::uint64_t stranger_received_ = 0;
  std::uint64_t stranger_answers_ = 0;
  bool stranger_proven_ = false;
  std::set<std::uint64_t> told_;
  static Train train_;
  static Arrival arrival_;
  static wire::Frame frame_;
};
Train World::train_;
Arrival World::arrival_;
wire::Frame World::frame_;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  World(input).run();
  return 0;
}
