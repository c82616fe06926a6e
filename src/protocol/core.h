// The endpoint's state and its parts. Private to src/protocol.
//
// core_calls.cc: what the application asks for. core_receive.cc: packets in. core_packets.cc: what each type does.
// core_acks.cc: acknowledgments, loss, probes. core_transmit.cc: packets out. core_associations.cc: birth and end of
// associations. core_timers.cc: time. core_grants.cc: granting and memory. core_native.cc: the native carrier.
#pragma once

#include <vector>

#include "base/hash_index.h"
#include "base/ring.h"
#include "base/rng.h"
#include "base/slab.h"
#include "protocol/association.h"
#include "protocol/budget.h"
#include "protocol/cutoffs.h"
#include "protocol/defects.h"
#include "protocol/endpoint.h"
#include "protocol/grants.h"
#include "protocol/send_queue.h"
#include "protocol/timer_queue.h"
#include "protocol/uplink.h"
#include "wire/native.h"

namespace homa::protocol {

/// Deadline of a bare acknowledgment while a message is in progress: a fraction of the round trip (architecture 4).
inline constexpr int kAckRttFraction = 4;
/// ... or after so many packets.
inline constexpr std::uint32_t kAckEveryPackets = 64;
/// Packets whose content goes again at one probe timeout.
inline constexpr int kProbePackets = 3;
/// Probe timeouts that are not backed off (architecture 4).
inline constexpr int kPromptProbes = 2;
/// Backing off ends here, so that a peer is asked some more times before its silence counts as death.
inline constexpr Duration kMaxProbeTimeout = 1s;
inline constexpr int kProbesBeforeGivingUp = 8;
inline constexpr Duration kTimerGranularity = 100us;
inline constexpr Duration kSoonestTimer = 10us;
/// Ranges of one message kept apart; more holes than this and data is not taken (bounds memory against a hostile peer).
inline constexpr std::size_t kMaxHoles = 1024;
/// Slots that a client may use before it heard the server's number, and before its address is proven.
inline constexpr std::uint16_t kInitialSlots = 16;
/// Bytes to an unproven address per byte from it (RFC 9000 section 8).
inline constexpr std::uint64_t kAmplification = 3;
/// ICMP hints that end an opening association, and how long an open one must have been silent under them.
inline constexpr int kUnreachableHints = 3;
inline constexpr Duration kHintSilence = 100ms;
inline constexpr Duration kShortestStall = 500us;
inline constexpr Duration kHeldRetry = 10ms;
/// Idle associations that keep their lanes; more only keep marks.
inline constexpr std::size_t kIdleAwake = 64;

/// Bits 48..55 of an id name the shard of the peer (docs/wire.md section 2); they steer, they do not identify.
inline constexpr int kPeerShardShift = 48;
constexpr std::uint64_t without_peer_shard(std::uint64_t id) {
  return id & ~(std::uint64_t{0xff} << kPeerShardShift);
}

class Endpoint::Core {
 public:
  Core(const Config& config, std::uint64_t seed, BufferSource& buffers);
  ~Core();

  StartResult start(const Address& server, const Payload& request, const CallOptions& options, Time now);
  bool cancel(CallId call, Time now);
  bool reply(RequestId request, const Payload& response, Time now);
  bool refuse(RequestId request, CallStatus reason, Time now);
  void release_message(const Message& message, Time now);
  void close(Time now);
  bool place(const Datagram& datagram, Arrival& arrival, Time now);
  void commit(const Datagram& datagram, const Arrival& arrival, Time now);
  bool next_transmit(Time now, Train& train);
  void transmit_failed(const Train& train, TransmitFailure failure, Time now);
  void network_error(const Address& peer, TransmitFailure failure, Time now);
  void advance(Time now);
  Time next_deadline() const;
  Time next_timer() const { return timers_.next(); }
  bool next_event(Event& event, Time now);
  Usage usage() const;

  Config config;
  Counters counters;
  TraceSink* trace_sink = nullptr;
  Uplink uplink;
  Duration smoothed_rtt(const Address& peer) const;

 private:
  struct LocalIdTraits {
    using Key = std::uint64_t;
    static std::uint64_t hash(Key key, std::uint64_t secret) { return mix64(key ^ secret); }
    static Key key(const Association& a) { return without_peer_shard(a.local_id.value); }
  };
  struct RemoteIdTraits {
    using Key = RemoteName;
    static std::uint64_t hash(const Key& key, std::uint64_t secret) { return homa::hash(key.address, secret ^ key.id); }
    static Key key(const Association& a) { return {without_peer_shard(a.remote_id.value), a.remote}; }
  };
  struct AddressTraits {
    using Key = Address;
    static std::uint64_t hash(const Key& key, std::uint64_t secret) { return homa::hash(key, secret); }
    static const Key& key(const Association& a) { return a.remote; }
  };
  struct HostTraits {
    using Key = HostAddress;
    static std::uint64_t hash(const Key& key, std::uint64_t secret) { return homa::hash(key, secret); }
    static const Key& key(const Host& host) { return host.address; }
  };
  /// Native requests by association and id: one may overtake the last packets of another, so slots would not do.
  struct NativeRequestTraits {
    struct Key {
      std::uint64_t association = 0;
      std::uint64_t id = 0;
      friend bool operator==(const Key& a, const Key& b) { return a.id == b.id && a.association == b.association; }
    };
    static std::uint64_t hash(const Key& key, std::uint64_t secret) {
      return mix64(mix64(key.id ^ secret) + key.association);
    }
    static Key key(const Rpc& rpc) { return {rpc.association->local_id.value, rpc.id.value}; }
  };
  using AllList = IntrusiveList<Association, &Association::all_hook>;
  using BlockedList = IntrusiveList<Association, &Association::blocked_hook>;
  using ControlQueue = IntrusiveList<Association, &Association::control_hook>;
  using AwakeList = IntrusiveList<Association, &Association::awake_hook>;
  using IdleList = IntrusiveList<Association, &Association::idle_hook>;
  using UnprovenList = IntrusiveList<Association, &Association::unproven_hook>;

  // --- core_associations.cc ----------------------------------------------------------------------------------
  Association* client_association(const Address& server, const HostAddress& local, Time now);
  Association* accept_hello(const Datagram& datagram, const wire::HelloPacket& hello, Time now);
  bool accept_hello_ack(Association& association, const wire::HelloPacket& hello, Time now);
  Association& new_association(bool client, const Address& remote, const HostAddress& local, Time now);
  bool make_room(Time now);
  void destroy_association(Association& association);
  void tell_room_in_table();
  void opened(Association& association, const wire::HelloPacket& hello, Time now);
  /// Ends an association. Calls that were sent fail with `status`, those not sent with `unsent`, unless `restart` says
  /// that they may go again on a new one.
  enum class Restart : std::uint8_t { none, idempotent, all_recent };
  void lose(Association& association, CallStatus status, CallStatus unsent, Restart restart, Time now);
  bool may_restart(const Rpc& rpc, Restart restart, Time now) const;
  void proven(Association& association);
  void abandon(Association& association, Time now);
  void update_idle(Association& association);
  void no_longer_idle(Association& association);
  void put_idle_to_sleep();
  static bool is_idle(const Association& association);
  wire::AssociationId fresh_id(std::uint8_t peer_shard);
  Host& host_of(const HostAddress& address);
  void drop_host(Association& association);
  void refuse_unknown(const Datagram& datagram, const wire::FrameHeader& header, Time now);

  // --- core_calls.cc -----------------------------------------------------------------------------------------
  void assign_slots(Association& association, Time now);
  void give_slot(Association& association, Rpc& rpc, std::uint16_t index, Time now);
  void refresh_sending(Rpc& rpc);
  void begin_sending(Rpc& rpc, const Payload& payload, std::uint64_t unscheduled, Time now);
  void finish_call(Rpc& rpc, CallStatus status, Time now);
  void end_call_early(Rpc& rpc, CallStatus status, wire::AbortCode code, Time now);
  void free_slot(Rpc& rpc, Time now);
  void release_payload(Rpc& rpc);
  void destroy_rpc(Rpc& rpc);
  void finish_request(Rpc& rpc, Time now);
  void tell_aborted(const Rpc& rpc, CallStatus status);
  void deliver(Rpc& rpc, Time now);
  Event& add_event(Event::Kind kind);
  Event& add_call_finished(const Rpc& rpc, CallStatus status);
  std::uint32_t response_limit() const;
  std::uint64_t unscheduled_limit(const Association& association) const;
  Rpc& new_rpc(Association& association, bool caller);

  // --- core_packets.cc ---------------------------------------------------------------------------------------
  /// False: the packet could not be taken and must not be acknowledged.
  bool on_packet(Association& association, const wire::Packet& packet, const std::byte* destination, Time now);
  bool on_data(Association& association, const wire::DataPacket& data, const std::byte* destination, Time now);
  bool on_request_data(Association& association, const wire::DataPacket& data, const std::byte* destination, Time now);
  bool take_data(Rpc& rpc, const wire::DataPacket& data, const std::byte* destination, Time now);
  bool start_message(Rpc& rpc, const wire::DataPacket& data, Time now);
  void first_of_message(Rpc& rpc, const wire::DataPacket& data, Time now);
  void message_complete(Rpc& rpc, Time now);
  void on_grant(Association& association, const wire::GrantPacket& grant, Time now);
  void on_cutoffs(Association& association, const wire::CutoffsPacket& cutoffs);
  void on_abort(Association& association, const wire::AbortPacket& abort, Time now);
  void on_release(Association& association, const wire::ReleasePacket& release, Time now);
  Rpc* rpc_of(Association& association, wire::RpcId id);
  Rpc* receiving_rpc(Association& association, const wire::DataPacket& data);

  // --- core_receive.cc ---------------------------------------------------------------------------------------
  Association* find_for(const Datagram& datagram, const wire::Frame& frame);
  void commit_unnumbered(const Datagram& datagram, const wire::Frame& frame, Time now);
  void note_received(Association& association, Lane& lane, std::uint64_t number, bool eliciting, bool in_progress,
                     bool prompt, Time now);
  void on_no_association(const Datagram& datagram, const wire::FrameHeader& header,
                         const wire::NoAssociationPacket& packet, Time now);
  void on_close(Association& association, const wire::ClosePacket& packet, Time now);

  // --- core_acks.cc ------------------------------------------------------------------------------------------
  void on_ack(Association& association, const wire::AckPacket& ack, Time now);
  void acknowledged(Association& association, Lane& lane, SentPacket& packet, Time now);
  void content_acknowledged(Association& association, const Content& content, std::uint16_t size, Time now);
  void content_lost(Association& association, const Content& content, Time now);
  void data_acknowledged(Association& association, Rpc& rpc, const Content& content, Time now);
  void declare_lost(Association& association, Lane& lane, SentPacket& packet, Time now);
  void detect_losses(Association& association, Lane& lane, Time now);
  void probe(Association& association, Lane& lane, Time now);
  Duration probe_timeout(const Association& association, const Lane& lane) const;
  Time probe_deadline(const Association& association, const Lane& lane) const;
  Duration loss_delay(const Association& association, const Lane& lane) const;
  void resolve_front(Lane& lane, Time now);
  void drop_contents(const Content& content);
  template <typename Visit>
  void for_each_content(const Content& first, Visit&& visit);
  std::uint32_t add_content();  ///< as it was left: to be filled

  // --- core_transmit.cc --------------------------------------------------------------------------------------
  class FrameBuilder;
  bool transmit_control(Time now, Train& train);
  bool transmit_data(Time now, Train& train);
  bool transmit_stateless(Train& train);
  bool build_control(Association& association, Time now, Train& train);
  void put_hello(Association& association, FrameBuilder& frame, Time now);
  void put_control(Association& association, FrameBuilder& frame, Time now);
  void put_first_response(Association& association, FrameBuilder& frame, Time now);
  void put_acks(Association& association, FrameBuilder& frame, Time now);
  bool put_data(Rpc& rpc, FrameBuilder& frame, Time now);
  void put_more_data(Association& association, Priority priority, FrameBuilder& frame, Time now);
  bool send_mtu_probe(Association& association, Time now, Train& train);
  void finish_frame(Association& association, FrameBuilder& frame, Time now);
  bool may_send(const Association& association, std::size_t bytes);
  void queue_control(Association& association);
  bool has_due_control(const Association& association, Time now) const;
  Priority data_priority(const Rpc& rpc, std::uint64_t offset) const;
  void start_train(const Association& association, Priority priority, Train& train) const;
  void append_pieces(OutMessage& message, ByteRange range, Train& train, Segment& segment);
  std::size_t pieces_needed(OutMessage& message, ByteRange range);
  static std::uint64_t end_of_pieces(const OutMessage& message, std::size_t count);
  ByteRange next_range(const OutMessage& message, std::size_t room) const;

  // --- core_native.cc ----------------------------------------------------------------------------------------
  bool is_native() const { return config.carrier == Carrier::native; }
  wire::NativeHeader native_header(const Association& association) const;
  std::size_t data_header_size(std::uint64_t offset) const {
    if (is_native()) return wire::kNativeDataHeaderSize;
    return offset == 0 ? wire::kDataFirstHeaderSize : wire::kDataHeaderSize;
  }
  bool place_native(const Datagram& datagram, Arrival& arrival, Time now);
  void commit_native(const Datagram& datagram, const Arrival& arrival, Time now);
  void open_native(Association& association);
  bool on_native_request(Association& association, const wire::DataPacket& data, const std::byte* destination,
                         Time now);
  void native_sent(Rpc& rpc, Time now);

  // --- core_timers.cc ----------------------------------------------------------------------------------------
  void arm(Association& association, Time when) { timers_.set_no_later(association.timer, when); }
  void on_association_timer(Association& association, Time now);
  Time association_deadline(const Association& association) const;
  static bool awaits_client(const Association& association);
  Duration ping_interval(const Association& association) const;
  Duration silence_limit(const Association& association) const;
  void ask_whether_alive(Association& association, Time now);
  void send_control(Association& association, ContentKind kind, wire::RpcId id, wire::AbortCode code = {});

  // --- core_grants.cc ----------------------------------------------------------------------------------------
  void run_grants(Time now);
  void queue_grant(Rpc& rpc);
  void update_window(Association& association, InMessage& message);
  bool find_memory(Rpc& rpc, Time now);
  void free_message_memory(InMessage& message);
  void retry_held(Time now);
  void stop_receiving(Rpc& rpc);
  void measure_downlink(std::uint64_t bytes, Time now);
  void watch_for_stall(Rpc& rpc, Time now);
  Duration stall_timeout(const Association& association) const;

  void trace(Time now, const char* format, ...) const __attribute__((format(printf, 3, 4)));
  bool defect(Defect which) const { return planted(config.defects, which); }

  Rng rng_;
  BufferSource& buffers_;
  bool closed_ = false;
  bool table_blocked_ = false;  // a start met table_full: `writable` is owed

  Slab<Association> associations_;
  Slab<Rpc> rpcs_;
  Slab<Host> hosts_;
  HashIndex<Association, LocalIdTraits> by_local_id_;
  HashIndex<Association, RemoteIdTraits> by_remote_id_;  // once the remote id is known
  HashIndex<Association, AddressTraits> clients_;        // client associations by server
  HashIndex<Host, HostTraits> hosts_by_address_;
  HashIndex<Rpc, NativeRequestTraits> native_requests_;
  std::vector<Content> contents_;  // further contents of packed frames; free ones linked through `next`
  std::uint32_t free_content_ = Content::kEnd;

  ControlQueue control_;  // associations with something small to send
  IdleList idle_;
  AwakeList awake_;
  UnprovenList unproven_;
  SendQueue send_queue_;
  TimerQueue timers_;
  Ring<Event> events_;
  TimerNode held_timer_;
  RpcQueue held_;  // messages that wait for memory
  BlockedList blocked_;
  AllList all_;

  /// A frame that belongs to no association (NO_ASSOCIATION, CLOSE): answered at once or not at all.
  struct StatelessFrame {
    Address to;
    HostAddress from;
    std::uint8_t size = 0;
    std::array<std::byte, 32> bytes;
  };
  Ring<StatelessFrame> stateless_;

  GrantScheduler grants_;
  UnscheduledPolicy unscheduled_;
  RateEstimate downlink_;
  std::uint64_t latest_window_ = 0;
  Time grant_clock_{};  // pacing: the downlink is fed until then
  Time downlink_since_{};
  std::uint64_t downlink_bytes_ = 0;
  bool grants_wanted_ = false;

  std::uint64_t next_age_ = 1;
  std::uint64_t calls_ = 0;
  std::uint64_t responses_expected_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t receive_memory_ = 0;
  std::uint64_t send_memory_ = 0;
  std::uint64_t unproven_count_ = 0;
};

}  // namespace homa::protocol
