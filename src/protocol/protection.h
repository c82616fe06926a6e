// What the core asks of security: a handshake for each association, then keys that seal and open its frames.
//
// Interfaces only. src/security implements them with TLS 1.3 and AEADs; testing/ with something fast and repeatable.
// A null SecurityProvider means clear. Threads: all objects belong to the endpoint that uses them, except that one
// provider may serve endpoints of several threads at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/bytes.h"
#include "base/units.h"

namespace homa::protocol {

struct Train;

/// Why a handshake ended without keys. The explanation beside it has names and times.
enum class SecurityFault : std::uint8_t {
  none,
  unknown_authority,  ///< the certificate is not signed by an authority that is trusted here
  name_mismatch,      ///< a good certificate, for another name than the one asked for
  expired,
  not_yet_valid,      ///< issued in the future: usually a clock that is wrong
  bad_certificate,    ///< anything else that is wrong with it
  no_certificate,     ///< the other side has to show one and did not
  wrong_key,          ///< pre-shared key: identity not known, or another key under it
  not_allowed,        ///< authenticated, but not on the allow-list
  nothing_in_common,  ///< no cipher, TLS version or application protocol in common
  peer_is_clear,      ///< the peer speaks only clear
  peer_is_sealed,     ///< we are clear and the peer refuses that
  tampered,           ///< HELLO in clear and HELLO inside of the handshake differ
  protocol,           ///< not a handshake, or against its rules
};
const char* to_string(SecurityFault fault);

/// A peer, as its certificate or pre-shared key proved it. Immutable once shared.
struct PeerIdentity {
  std::vector<std::string> names;  ///< "spiffe://...", "host.example", "192.0.2.1": the subject alternative names, URIs
                                   ///< first; or the one identity of a pre-shared key, as "psk:identity"
  std::string cipher;              ///< "AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"
};

/// A sealed frame to open, taken apart (wire::SealedLayout), and where its payload bytes go: consecutive pieces.
struct SealedFrame {
  struct Piece {
    std::byte* out = nullptr;
    std::size_t size = 0;
  };
  bool key_phase = false;
  std::uint8_t lane = 0;  ///< lane byte
  std::uint64_t number = 0;
  ByteView authenticated;
  ByteView ciphertext;
  const std::byte* tag = nullptr;  ///< wire::kSealTagSize bytes
  const Piece* pieces = nullptr;   ///< sizes add up to ciphertext.size
  std::size_t piece_count = 0;
};

/// The keys of one association, both directions.
class FrameKeys {
 public:
  virtual ~FrameKeys() = default;
  /// Key phase of the next train. May begin a new one, when the present key was used enough and the peer is known to
  /// have it.
  virtual bool next_phase() = 0;
  /// Writes the frames of `train` sealed at `out`, train.total_bytes, which count a tag for each segment. The key phase
  /// is what next_phase() said last. Copying and encrypting are one step.
  virtual void seal(const Train& train, std::byte* out) = 0;
  /// Decrypts into the pieces and verifies. False: forged or damaged; the pieces then hold nothing of use.
  virtual bool open(const SealedFrame& frame) = 0;
  /// The peer has acknowledged frame `number` of this lane.
  virtual void acknowledged(std::uint8_t lane, std::uint64_t number) = 0;
  /// Nothing is going on: keep only what a later use needs.
  virtual void hibernate() = 0;
  virtual std::size_t memory_bytes() const = 0;
};

/// One side of one handshake. Its bytes travel in CRYPTO packets, in order.
class Handshake {
 public:
  enum class State : std::uint8_t { running, complete, failed };
  virtual ~Handshake() = default;
  /// Takes the peer's next bytes (none: begin) and appends to `out` what is to be sent, also after a failure: the peer
  /// is to learn why. May be called after completion: tickets come then.
  virtual State advance(ByteView in, Time now, std::vector<std::byte>& out) = 0;
  /// The HELLO or HELLO_ACK that the peer sent, as the handshake carried it. Trustworthy once complete.
  virtual ByteView peer_parameters() const = 0;
  /// Once, when complete.
  virtual std::unique_ptr<FrameKeys> take_keys() = 0;
  /// When complete.
  virtual std::shared_ptr<const PeerIdentity> peer() const = 0;
  /// When failed: why, and in words for people, who refused whom.
  virtual SecurityFault fault() const = 0;
  virtual std::string explanation() const = 0;
  virtual std::size_t memory_bytes() const = 0;
};

/// Makes handshakes by the rules and with the credentials of this process.
class SecurityProvider {
 public:
  virtual ~SecurityProvider() = default;
  /// `parameters`: our HELLO, to be carried where nobody can change it.
  virtual std::unique_ptr<Handshake> connect(const Address& server, ByteView parameters, Time now) = 0;
  /// `parameters`: our HELLO_ACK.
  virtual std::unique_ptr<Handshake> accept(const Address& client, ByteView parameters, Time now) = 0;
};

}  // namespace homa::protocol
