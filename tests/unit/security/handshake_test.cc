// Both sides of a handshake, joined by nothing but two byte streams.
#include "security/tls_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority.h"
#include "security/frame_keys.h"
#include "support.h"

namespace homa::security {
namespace {

using protocol::SecurityFault;
using test::Authority;
using test::Bytes;
using test::kDay;
using test::kToday;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using State = protocol::Handshake::State;

constexpr std::string_view kHello = "the body of a HELLO";
constexpr std::string_view kHelloAck = "the body of a HELLO_ACK";

ByteView view(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
std::string_view text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

// What went each way, and how it ended.
struct Exchange {
  TlsHandshake client;
  TlsHandshake server;
  std::vector<Bytes> flights;
  State client_state = State::running;
  State server_state = State::running;

  Exchange(std::shared_ptr<const Credentials> ours, std::shared_ptr<const Credentials> theirs,
           const std::string& name = "server.example", std::int64_t client_clock = kToday,
           std::int64_t server_clock = kToday)
      : client(std::move(ours), TlsHandshake::Side::client, "server:4000", name, view(kHello), client_clock, Time{}),
        server(std::move(theirs), TlsHandshake::Side::server, "client:5000", "", view(kHelloAck), server_clock,
               Time{}) {}

  // `damage` may change each flight before it arrives.
  template <typename Damage>
  void run(Damage damage, std::size_t step = SIZE_MAX) {
    Bytes flight;
    client_state = client.advance({}, Time{}, flight);
    for (bool to_server = true; !flight.empty(); to_server = !to_server) {
      damage(flight, flights.size());
      flights.push_back(flight);
      Bytes answer;
      TlsHandshake& receiver = to_server ? server : client;
      State& state = to_server ? server_state : client_state;
      for (std::size_t at = 0; at < flight.size(); at += std::min(step, flight.size() - at)) {
        state = receiver.advance({flight.data() + at, std::min(step, flight.size() - at)}, Time{}, answer);
      }
      flight = std::move(answer);
    }
  }
  void run() {
    run([](Bytes&, std::size_t) {});
  }
  bool complete() const { return client_state == State::complete && server_state == State::complete; }
};

class HandshakeTest : public ::testing::Test {
 protected:
  HandshakeTest() {
    authority_.issue("server",
                     {"DNS:server.example,DNS:*.cluster.example,IP:192.0.2.1,IP:2001:db8::1,URI:spiffe://a/server"});
    authority_.issue("client", {"DNS:client.example,URI:spiffe://a/client"});
  }
  std::shared_ptr<const Credentials> load(const Authority& authority, const std::string& name, AllowList allowed = {},
                                          CipherChoice cipher = CipherChoice::any) {
    const CertificateFiles files{folder_.path(name + ".crt"), folder_.path(name + ".key"),
                                 authority.certificate_file()};
    auto result = Credentials::load(files, std::move(allowed), cipher, error_, warnings_);
    EXPECT_NE(result, nullptr) << error_;
    return result;
  }
  std::shared_ptr<const Credentials> client(AllowList allowed = {}) {
    return load(authority_, "client", std::move(allowed));
  }
  std::shared_ptr<const Credentials> server(AllowList allowed = {}) {
    return load(authority_, "server", std::move(allowed));
  }
  std::shared_ptr<const Credentials> psk(const std::string& key, const std::string& identity = "cluster",
                                         CipherChoice cipher = CipherChoice::any) {
    auto result = Credentials::load(PskFile{identity, folder_.write("psk", key)}, cipher, error_, warnings_);
    EXPECT_NE(result, nullptr) << error_;
    return result;
  }

  TemporaryFolder folder_;
  Authority authority_{folder_, "root"};
  std::string error_;
  std::vector<std::string> warnings_;
};

// Keys of both ends fit: what one seals the other opens.
void expect_keys_fit(Exchange& exchange) {
  const auto client = exchange.client.take_keys();
  const auto server = exchange.server.take_keys();
  auto& client_keys = dynamic_cast<FrameKeys&>(*client);
  auto& server_keys = dynamic_cast<FrameKeys&>(*server);
  std::string clear;
  EXPECT_TRUE(test::open_frame(server_keys, test::sealed_frame(client_keys, 0, 1, "there"), 1, clear));
  EXPECT_EQ(clear, "there");
  EXPECT_TRUE(test::open_frame(client_keys, test::sealed_frame(server_keys, 0, 1, "back"), 1, clear));
  EXPECT_EQ(clear, "back");
  EXPECT_FALSE(test::open_frame(client_keys, test::sealed_frame(client_keys, 0, 2, "reflected"), 2, clear));
}

TEST_F(HandshakeTest, BothSidesKnowEachOtherAfterOneRoundTrip) {
  Exchange exchange(client(), server());
  exchange.run();
  ASSERT_TRUE(exchange.complete()) << exchange.client.explanation() << exchange.server.explanation();
  EXPECT_EQ(exchange.flights.size(), 3u);  // there, back, and the client's certificate
  EXPECT_THAT(exchange.server.peer()->names, ElementsAre("spiffe://a/client", "client.example"));
  EXPECT_THAT(exchange.client.peer()->names,
              ElementsAre("spiffe://a/server", "server.example", "*.cluster.example", "192.0.2.1", "2001:db8::1"));
  EXPECT_EQ(text(exchange.server.peer_parameters()), kHello);
  EXPECT_EQ(text(exchange.client.peer_parameters()), kHelloAck);
  expect_keys_fit(exchange);
}

TEST_F(HandshakeTest, BytesMayComeOneByOne) {
  Exchange exchange(client(), server());
  exchange.run([](Bytes&, std::size_t) {}, 1);
  EXPECT_TRUE(exchange.complete());
}

TEST_F(HandshakeTest, EachCipherThatIsAskedForIsUsed) {
  const struct {
    CipherChoice choice;
    const char* name;
  } rows[] = {{CipherChoice::any, "AES-128-GCM"},
              {CipherChoice::aes_128_gcm, "AES-128-GCM"},
              {CipherChoice::aes_256_gcm, "AES-256-GCM"},
              {CipherChoice::chacha20_poly1305, "ChaCha20-Poly1305"}};
  for (const auto& row : rows) {
    Exchange certificates(client(), load(authority_, "server", {}, row.choice));
    certificates.run();
    ASSERT_TRUE(certificates.complete()) << row.name;
    EXPECT_EQ(certificates.client.peer()->cipher, row.name);
    expect_keys_fit(certificates);

    const std::string key(32, 'a');
    Exchange keys(psk(key, "cluster", row.choice), psk(key, "cluster", row.choice));
    keys.run();
    ASSERT_TRUE(keys.complete()) << row.name << keys.client.explanation() << keys.server.explanation();
    EXPECT_EQ(keys.server.peer()->cipher, row.name);
    EXPECT_THAT(keys.server.peer()->names, ElementsAre("psk:cluster"));
    expect_keys_fit(keys);
  }
}

TEST_F(HandshakeTest, EveryKindOfNameIsMatched) {
  for (const char* name : {"server.example", "a.cluster.example", "192.0.2.1", "2001:db8:0::1", "spiffe://a/server"}) {
    Exchange exchange(client(), server(), name);
    exchange.run();
    EXPECT_TRUE(exchange.complete()) << name << ": " << exchange.client.explanation();
  }
  // Not: part of a name, two levels of a wildcard, the common name, other addresses.
  for (const char* name : {"example", "a.b.cluster.example", "server", "192.0.2.2", "spiffe://a/serve"}) {
    Exchange exchange(client(), server(), name);
    exchange.run();
    EXPECT_EQ(exchange.client.fault(), SecurityFault::name_mismatch) << name;
    EXPECT_THAT(exchange.client.explanation(), HasSubstr(std::string("not for ") + name));
    EXPECT_EQ(exchange.server_state, State::failed);
    EXPECT_THAT(exchange.server.explanation(), HasSubstr("client:5000 refuses us")) << name;
  }
}

TEST_F(HandshakeTest, UnknownAuthoritiesAreRefusedByEitherSide) {
  const Authority other(folder_, "other-root");
  Exchange refused_server(load(other, "client"), server());
  refused_server.run();
  EXPECT_EQ(refused_server.client.fault(), SecurityFault::unknown_authority);
  EXPECT_EQ(refused_server.server.fault(), SecurityFault::unknown_authority);
  EXPECT_THAT(refused_server.client.explanation(), HasSubstr("we refuse server:4000"));
  EXPECT_THAT(refused_server.server.explanation(), HasSubstr("client:5000 refuses us"));

  Exchange refused_client(client(), load(other, "server"));
  refused_client.run();
  EXPECT_EQ(refused_client.server.fault(), SecurityFault::unknown_authority);
  EXPECT_EQ(refused_client.client.fault(), SecurityFault::unknown_authority);  // learnt after its own end
}

TEST_F(HandshakeTest, ClocksAndDatesAreJudgedByTheClockThatWasGiven) {
  Exchange late(client(), server(), "server.example", kToday + 2 * kDay);
  late.run();
  EXPECT_EQ(late.client.fault(), SecurityFault::expired);
  EXPECT_THAT(late.client.explanation(), HasSubstr("by our clock"));
  Exchange early(client(), server(), "server.example", kToday - 2 * kDay);
  early.run();
  EXPECT_EQ(early.client.fault(), SecurityFault::not_yet_valid);
  Exchange old_client(client(), server(), "server.example", kToday, kToday + 2 * kDay);
  old_client.run();
  EXPECT_EQ(old_client.server.fault(), SecurityFault::expired);
  EXPECT_EQ(old_client.client.fault(), SecurityFault::expired);
}

TEST_F(HandshakeTest, TheAllowListHoldsOnBothSides) {
  Exchange fine(client({"spiffe://a/server"}), server({"nobody", "client.example"}));
  fine.run();
  EXPECT_TRUE(fine.complete());
  Exchange refused(client(), server({"spiffe://a/other"}));
  refused.run();
  EXPECT_EQ(refused.server.fault(), SecurityFault::not_allowed);
  EXPECT_THAT(refused.server.explanation(), HasSubstr("spiffe://a/client"));
  EXPECT_EQ(refused.client_state, State::failed);
}

TEST_F(HandshakeTest, PreSharedKeysMustBeTheSame) {
  const std::string key(32, 'a');
  Exchange wrong_key(psk(key), psk(std::string(32, 'b')));
  wrong_key.run();
  EXPECT_EQ(wrong_key.server.fault(), SecurityFault::wrong_key);
  EXPECT_EQ(wrong_key.client.fault(), SecurityFault::wrong_key);
  Exchange wrong_name(psk(key, "east"), psk(key, "west"));
  wrong_name.run();
  EXPECT_EQ(wrong_name.server.fault(), SecurityFault::wrong_key);
  EXPECT_THAT(wrong_name.server.explanation(), HasSubstr("called 'east', ours 'west'"));
  EXPECT_EQ(wrong_name.client.fault(), SecurityFault::wrong_key);
}

TEST_F(HandshakeTest, CertificatesAndPreSharedKeysDoNotMix) {
  const std::string key(32, 'a');
  Exchange key_against_certificate(psk(key), server());
  key_against_certificate.run();
  EXPECT_EQ(key_against_certificate.client_state, State::failed);
  EXPECT_NE(key_against_certificate.server_state, State::complete);
  Exchange certificate_against_key(client(), psk(key));
  certificate_against_key.run();
  EXPECT_EQ(certificate_against_key.client_state, State::failed);
  EXPECT_EQ(certificate_against_key.server_state, State::failed);
}

TEST_F(HandshakeTest, NoCipherInCommon) {
  Exchange exchange(load(authority_, "client", {}, CipherChoice::aes_256_gcm),
                    load(authority_, "server", {}, CipherChoice::chacha20_poly1305));
  exchange.run();
  EXPECT_EQ(exchange.server.fault(), SecurityFault::nothing_in_common);
  EXPECT_EQ(exchange.client.fault(), SecurityFault::nothing_in_common);
}

// Whatever byte is changed on its way, the two never both believe, unless what they believe is the same: there is one
// byte of the record header (its version) that TLS 1.3 tells receivers to ignore.
TEST_F(HandshakeTest, NoChangedByteIsBelieved) {
  const auto ours = client();
  const auto theirs = server();
  Exchange reference(ours, theirs);
  reference.run();
  ASSERT_TRUE(reference.complete());
  for (std::size_t flight = 0; flight < reference.flights.size(); ++flight) {
    for (std::size_t at = 0; at < reference.flights[flight].size(); at += 3) {
      Exchange exchange(ours, theirs);
      exchange.run([&](Bytes& bytes, std::size_t index) {
        if (index == flight && at < bytes.size()) bytes[at] ^= std::byte{0x20};
      });
      if (!exchange.complete()) continue;
      EXPECT_EQ(text(exchange.server.peer_parameters()), kHello);
      EXPECT_EQ(text(exchange.client.peer_parameters()), kHelloAck);
      expect_keys_fit(exchange);
    }
  }
}

TEST_F(HandshakeTest, GarbageAndEndlessBytesEndIt) {
  TlsHandshake server_side(server(), TlsHandshake::Side::server, "stranger", "", view(kHelloAck), kToday, Time{});
  Bytes out;
  EXPECT_EQ(server_side.advance(view("GET / HTTP/1.1\r\n\r\n"), Time{}, out), State::failed);
  EXPECT_EQ(server_side.fault(), SecurityFault::protocol);

  TlsHandshake patient(server(), TlsHandshake::Side::server, "stranger", "", view(kHelloAck), kToday, Time{});
  const Bytes endless(kMaxHandshakeBytes + 1, std::byte{0x16});
  EXPECT_EQ(patient.advance({endless.data(), endless.size()}, Time{}, out), State::failed);
  EXPECT_THAT(patient.explanation(), HasSubstr("without end"));
  EXPECT_EQ(patient.advance(view("more"), Time{}, out), State::failed);
}

}  // namespace
}  // namespace homa::security
