// A readable trace of a simulated run, and a hash of it that two runs of one seed must share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "protocol/endpoint.h"
#include "testing/parcel.h"

namespace homa::sim {

/// Microseconds with three digits after the point.
std::string to_string(Time time);

/// Hashes what happened to every datagram and when.
class TraceHash final : public PacketObserver {
 public:
  explicit TraceHash(const EventLoop& loop) : loop_(loop) {}
  std::uint64_t value() const { return value_; }
  void sent(const Parcel& parcel) override { add(parcel, 1); }
  void delivered(const Parcel& parcel) override { add(parcel, 2); }
  void dropped(const Parcel& parcel, DropReason reason) override { add(parcel, 3 + static_cast<unsigned>(reason)); }

 private:
  void add(const Parcel& parcel, std::uint64_t what);
  const EventLoop& loop_;
  std::uint64_t value_ = 0;
};

/// Writes one line per datagram sent, delivered or dropped, and per decision that a core explains.
class TraceWriter final : public PacketObserver {
 public:
  TraceWriter(const EventLoop& loop, std::FILE* out) : loop_(loop), out_(out) {}
  void sent(const Parcel& parcel) override { line("send", parcel, nullptr); }
  void delivered(const Parcel& parcel) override { line("recv", parcel, nullptr); }
  void dropped(const Parcel& parcel, DropReason reason) override { line("DROP", parcel, to_string(reason)); }
  /// Applications and hosts note here what they do.
  void note(const std::string& who, const std::string& text);

 private:
  void line(const char* what, const Parcel& parcel, const char* reason);
  const EventLoop& loop_;
  std::FILE* out_;
};

/// Gives a core's explanations a name and hands them to the writer.
class NamedTrace final : public protocol::TraceSink {
 public:
  NamedTrace(TraceWriter& writer, std::string name) : writer_(writer), name_(std::move(name)) {}
  void trace(Time, const char* text) override { writer_.note(name_, text); }

 private:
  TraceWriter& writer_;
  std::string name_;
};

}  // namespace homa::sim
