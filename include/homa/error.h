// Errors as values: what went wrong, and what to do about it.
//
// Error and Result are plain values; no thread rule. A Result must be looked at: ignoring one is a compiler warning.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace homa {

enum class ErrorCode : std::uint8_t {
  // How a call ended. Only after these three the call has certainly not run at the peer:
  peer_unreachable,  ///< nobody answers at that address, or the network says that nobody is there
  no_handler,        ///< the peer serves no calls
  too_long,          ///< longer than the peer's or our own limit

  // The call may or may not have run:
  cancelled,          ///< by our own cancel()
  deadline_exceeded,  ///< no answer before CallOptions::deadline
  peer_timeout,       ///< the peer was there and went silent
  outcome_unknown,    ///< the peer restarted or forgot us while the call ran
  peer_closed,        ///< the peer said goodbye
  shut_down,          ///< our own client or server was closed

  refused,         ///< the peer's application refused the call, failed, or dropped it
  protocol_error,  ///< the peer contradicted itself: a fault in the peer, or forged packets

  // A call that did not start; nothing was sent and nothing is referenced:
  would_block,  ///< too much is under way; try again when a call has ended (see Client::notify_writable)
  no_address,   ///< the address cannot be used; also one to listen at that is not of this host

  // The environment:
  bad_option,         ///< an option is out of range or contradicts another
  bad_address,        ///< the text is not an address
  name_not_resolved,  ///< the resolver does not know the host
  address_in_use,     ///< another process, or another server of this one, has the port
  permission_denied,
  system_error,  ///< any other refusal of the system; the detail tells which
};

/// Short name of the code, as in the enum.
std::string_view to_string(ErrorCode code);

/// An error: a code to decide by, and text for people. Cheap to copy when the detail is empty (the usual case).
class Error {
 public:
  Error(ErrorCode code) : code_(code) {}  // NOLINT(google-explicit-constructor): `return ErrorCode::would_block;`
  Error(ErrorCode code, std::string detail) : code_(code), detail_(std::move(detail)) {}
  /// For an occurrence of which more is known than its code says: `text` has cause and cure, and is the message().
  static Error explained(ErrorCode code, std::string text) {
    Error error(code, std::move(text));
    error.explained_ = true;
    return error;
  }

  ErrorCode code() const { return code_; }
  /// What was special about this occurrence: an address, an option's name, the system's own words. May be empty.
  const std::string& detail() const { return detail_; }
  /// One or two sentences: the cause and the cure.
  std::string message() const;

  friend bool operator==(const Error& error, ErrorCode code) { return error.code_ == code; }

 private:
  ErrorCode code_;
  bool explained_ = false;
  std::string detail_;
};

/// A value or an Error; what std::expected is from C++23 on.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(ErrorCode code) : Result(Error(code)) {}                            // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// Precondition: has_value().
  T& value() & { return access(*this); }
  const T& value() const& { return access(*this); }
  T&& value() && { return std::move(access(*this)); }
  T& operator*() & { return access(*this); }
  const T& operator*() const& { return access(*this); }
  T&& operator*() && { return std::move(access(*this)); }
  T* operator->() { return &access(*this); }
  const T* operator->() const { return &access(*this); }

  /// Precondition: !has_value().
  const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  template <typename Self>
  static auto& access(Self& self) {
    assert(self.has_value());
    return *std::get_if<0>(&self.state_);
  }
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(ErrorCode code) : Result(Error(code)) {}    // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  /// Precondition: !has_value().
  const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace homa
