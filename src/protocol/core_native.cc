// The native carrier: Linux Homa's packets without an association, on networks that lose nothing.
//
// One association object a direction, named by the peer's address, open from the start. What was sent counts as
// arrived; recovery (RESEND, BUSY, RPC_UNKNOWN, NEED_ACK) comes with the native driver.
#include "protocol/core.h"

namespace homa::protocol {
namespace {

/// Stands for "the peer at this address" where the datagram carrier has an id that the peer chose.
constexpr wire::AssociationId kNativeName{1};

}  // namespace

wire::NativeHeader Endpoint::Core::native_header(const Association& association) const {
  wire::NativeHeader header;
  header.source_port = config.native_port;
  header.destination_port = association.remote.port;
  header.from_server = !association.is_client;
  return header;
}

void Endpoint::Core::open_native(Association& association) {
  association.open = true;
  association.proven = true;
  association.remote_id = kNativeName;
  association.limits.max_message_length = config.max_message_length;
  association.limits.unscheduled_bytes = config.unscheduled_bytes;
  association.limits.slots = config.slots;
  if (config.fixed_policy.in_force()) {
    association.cutoffs = config.fixed_policy.cutoffs;
    association.cutoff_version = unscheduled_.version();
  }
  if (!association.is_client) by_remote_id_.insert(association);
  ++counters.associations_opened;
}

bool Endpoint::Core::place_native(const Datagram& datagram, Arrival& arrival, Time now) {
  ++counters.datagrams_received;
  wire::NativeHeader header;
  wire::Frame& frame = arrival.frame;
  frame.packet_count = 1;
  const wire::DecodeError error = wire::decode_native(datagram.bytes, header, frame.packets[0]);
  if (error != wire::DecodeError::none || header.destination_port != config.native_port ||
      header.source_port != datagram.from.port) {
    ++counters.datagrams_malformed;
    trace(now, "malformed: %s", wire::to_string(error));
    return false;
  }
  arrival.from_server = header.from_server;
  arrival.destination[0] = nullptr;
  Association* association =
      header.from_server ? clients_.find(datagram.from) : by_remote_id_.find({kNativeName.value, datagram.from});
  const auto* data = std::get_if<wire::DataPacket>(&frame.packets[0]);
  if (association == nullptr || data == nullptr || data->payload.size == 0) return true;
  Rpc* rpc = receiving_rpc(*association, *data);
  const ByteRange range{data->offset, data->offset + data->payload.size};
  if (rpc != nullptr && !rpc->in.received.overlaps(range)) arrival.destination[0] = rpc->in.data + data->offset;
  return true;
}

void Endpoint::Core::commit_native(const Datagram& datagram, const Arrival& arrival, Time now) {
  counters.bytes_received += datagram.bytes.size;
  Association* association =
      arrival.from_server ? clients_.find(datagram.from) : by_remote_id_.find({kNativeName.value, datagram.from});
  if (association == nullptr) {
    if (arrival.from_server || closed_ || !config.accepts || !make_room(now)) {
      ++counters.datagrams_unknown;
      return;
    }
    association = &new_association(false, datagram.from, datagram.to, now);
    association->local_id = fresh_id(0);
    by_local_id_.insert(*association);
    open_native(*association);
  }
  association->last_heard = now;
  ++association->traffic.heard;
  measure_downlink(datagram.bytes.size, now);
  association->largest_received =
      std::max(association->largest_received, static_cast<std::uint16_t>(datagram.bytes.size));
  const wire::Packet& packet = arrival.frame.packets[0];
  if (std::holds_alternative<wire::DataPacket>(packet) || std::holds_alternative<wire::GrantPacket>(packet) ||
      std::holds_alternative<wire::CutoffsPacket>(packet)) {
    on_packet(*association, packet, arrival.destination[0], now);
  }
}

// Without loss nothing comes twice, and an id that is not known is new.
bool Endpoint::Core::on_native_request(Association& association, const wire::DataPacket& data,
                                       const std::byte* destination, Time now) {
  if (Rpc* known = rpc_of(association, data.id)) {
    if (known->state == RpcState::arriving) return take_data(*known, data, destination, now);
    ++counters.data_duplicate;
    return true;
  }
  if (data.message_length > config.max_message_length || requests_ >= config.max_requests) {
    ++counters.data_rejected;
    return false;
  }
  Rpc& rpc = new_rpc(association, false);
  rpc.id = data.id;
  rpc.state = RpcState::arriving;
  native_requests_.insert(rpc);
  ++requests_;
  return take_data(rpc, data, destination, now);
}

// Nothing is lost on this carrier: what was sent counts as acknowledged in the order of messages, and the last byte
// sent ends what waits for no answer.
void Endpoint::Core::native_sent(Rpc& rpc, Time now) {
  OutMessage& out = rpc.out;
  out.acknowledged_bytes = out.next;
  refresh_sending(rpc);
  if (out.next < out.length() || out.announce) return;
  out.acknowledged.add({0, out.length()});
  if (!rpc.is_caller) {
    finish_request(rpc, now);
  } else if (rpc.one_way) {
    finish_call(rpc, CallStatus::ok, now);
  }
}

}  // namespace homa::protocol
