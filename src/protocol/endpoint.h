// The protocol core's facade: a pure state machine that carries RPCs and one-way messages.
//
// Three verbs: *give it packets* (place, commit), *tell it the time* (advance), *ask it* (next_transmit, next_event,
// next_deadline). No socket, clock, thread, log or random source inside; the same inputs give the same outputs.
//
// Threads: one at a time. Time: `now` never goes backwards from call to call.
// Ownership: payloads handed over stay the caller's and are only read, until their payload_released event. Received
// messages belong to the taker of the event until release_message().
// This header compiles as C++17.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/event.h"
#include "protocol/train.h"
#include "wire/datagram.h"

namespace homa::protocol {

/// Where received messages live. Called once per message, never per packet.
class BufferSource {
 public:
  virtual ~BufferSource() = default;
  /// Memory for a message of `length` > 0 bytes, or null: none now, the message is held back and asked for again.
  virtual std::byte* allocate(std::uint64_t length) = 0;
  virtual void release(std::byte* data, std::uint64_t length) = 0;
};

/// Receives a line of explanation for each packet and decision; null costs nothing. For traces of simulated runs.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void trace(Time now, const char* text) = 0;
};

/// One UDP payload as the driver received it. `bytes` is only read, and only during place() and commit().
struct Datagram {
  Address from;
  HostAddress to;  ///< our address that it was sent to
  Ecn ecn = Ecn::not_ect;
  ByteView bytes;
};

/// A datagram between place() and commit(). Large; keep one and reuse it.
struct Arrival {
  wire::Frame frame;
  bool from_server = false;  ///< native carrier
  /// For each packet of the frame, where its payload may be copied (or opened) to; null: nowhere, commit() reads it
  /// from where it is. Destinations are holes of messages: bytes not yet received.
  std::array<std::byte*, wire::kMaxPacketsPerFrame> destination;
  std::uint32_t association = 0;  ///< internal: index and generation of the association, or 0
  std::uint32_t association_generation = 0;
};

/// Why the driver could not send a train.
enum class TransmitFailure : std::uint8_t {
  too_big,      ///< EMSGSIZE: the packets were not sent and never will be at this size
  unreachable,  ///< the network says that nobody is there (ICMP, EHOSTUNREACH ...): a hint
};

class Endpoint {
 public:
  /// `seed` feeds everything random. `buffers` outlives the endpoint.
  Endpoint(const Config& config, std::uint64_t seed, BufferSource& buffers);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- calls -------------------------------------------------------------------------------------------------
  /// Starts an RPC, or a one-way message, to `server`. On error nothing happened and the payload is not referenced.
  [[nodiscard]] StartResult start(const Address& server, const Payload& request, const CallOptions& options, Time now);
  /// Gives up a call: its call_finished(cancelled) event follows. False when it has ended already.
  bool cancel(CallId call, Time now);
  /// Answers a request. False when the request is not open (answered, or its association is gone): the payload is then
  /// not referenced and no payload_released follows.
  bool reply(RequestId request, const Payload& response, Time now);
  /// Ends a request without a response. Same result as reply().
  bool refuse(RequestId request, CallStatus reason, Time now);
  /// Gives the memory of a received message back.
  void release_message(const Message& message, Time now);
  /// Ends all calls with shut_down and says goodbye to every peer; afterwards only draining and destruction make sense.
  void close(Time now);

  // --- packets -----------------------------------------------------------------------------------------------
  /// Decodes and checks; changes nothing but counters. False: dropped (and counted).
  bool place(const Datagram& datagram, Arrival& arrival, Time now);
  /// Makes a placed datagram count. Payloads with a destination must have been copied there.
  void commit(const Datagram& datagram, const Arrival& arrival, Time now);
  /// place, copy, commit: for frames in clear.
  void receive(const Datagram& datagram, Arrival& scratch, Time now);

  /// The next train, or false: nothing may be sent before next_deadline() or another input.
  bool next_transmit(Time now, Train& train);
  /// The driver could not send `train`, which next_transmit returned.
  void transmit_failed(const Train& train, TransmitFailure failure, Time now);
  /// An error that the network reported about `peer` outside of a send: a hint, checked against what is outstanding.
  void network_error(const Address& peer, TransmitFailure failure, Time now);
  /// The driver saw `bytes` leave in `duration` while more was waiting: one sample of the uplink's rate.
  void report_drain(std::uint64_t bytes, Duration duration, Time now);
  /// The driver sees that `bytes` still wait in the NIC or queueing discipline.
  void report_backlog(std::uint64_t bytes, Time now);

  // --- time and events ---------------------------------------------------------------------------------------
  void advance(Time now);
  /// When advance() or next_transmit() should be called next; kNever when idle. In the past while something waits to be
  /// sent: a driver that cannot send now goes by next_timer() until it can.
  Time next_deadline() const;
  /// When advance() should be called next, whether or not anything can be sent.
  Time next_timer() const;
  bool next_event(Event& event, Time now);

  // --- looking in --------------------------------------------------------------------------------------------
  const Counters& counters() const;
  std::uint64_t max_message_length() const;
  /// Upper bounds hold for these at every moment; tests compare them with Config.
  struct Usage {
    std::uint64_t associations = 0;
    std::uint64_t unproven_associations = 0;
    std::uint64_t calls = 0;           ///< started, not yet finished
    std::uint64_t requests = 0;        ///< arriving, running, or response not yet acknowledged
    std::uint64_t receive_memory = 0;  ///< bytes of messages held
    std::uint64_t incoming = 0;        ///< granted and not received
    std::uint64_t send_memory = 0;     ///< payload bytes referenced
    std::uint64_t core_memory = 0;     ///< bytes that the core itself allocated
  };
  Usage usage() const;
  /// Smoothed round trip on the top lane to `peer`; zero when not known.
  Duration smoothed_rtt(const Address& peer) const;
  void set_trace(TraceSink* sink);

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace homa::protocol
