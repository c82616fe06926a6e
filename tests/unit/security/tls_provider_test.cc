// Handshakes as endpoints will ask for them: by address, while files change under the process.
#include "security/tls_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "authority.h"
#include "support.h"

namespace homa::security {
namespace {

using protocol::Handshake;
using protocol::SecurityFault;
using test::Authority;
using test::Bytes;
using test::kDay;
using test::kToday;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Time kStart{};

// Each node has its own certificate, and all trust the same authority.
class TlsProviderTest : public ::testing::Test {
 protected:
  TlsProviderTest() {
    authority_.issue("server", {"IP:192.0.2.1,IP:2001:db8::1,DNS:server.example"});
    authority_.issue("client", {"DNS:client.example"});
  }

  CertificateFiles files(const std::string& name) const {
    return {folder_.path(name + ".crt"), folder_.path(name + ".key"), authority_.certificate_file()};
  }
  std::unique_ptr<TlsProvider> make(std::variant<CertificateFiles, PskFile> files) {
    TlsConfig config;
    config.files = std::move(files);
    config.wall_clock = [this] { return wall_clock_; };
    config.expected_name = [this](const Address&) { return expected_name_; };
    config.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(line);
    };
    std::string error;
    auto result = TlsProvider::make(std::move(config), error);
    EXPECT_NE(result, nullptr) << error;
    return result;
  }
  // Names that the server proved, or why not.
  std::string shake(TlsProvider& client, TlsProvider& server, Time now, const Address& address = kServer) {
    const std::string hello = "hello";
    const ByteView parameters{reinterpret_cast<const std::byte*>(hello.data()), hello.size()};
    const auto ours = client.connect(address, parameters, now);
    const auto theirs = server.accept(kClient, parameters, now);
    Bytes flight;
    ours->advance({}, now, flight);
    for (Handshake* receiver = theirs.get(); !flight.empty();
         receiver = receiver == ours.get() ? theirs.get() : ours.get()) {
      Bytes answer;
      receiver->advance({flight.data(), flight.size()}, now, answer);
      flight = std::move(answer);
    }
    if (ours->fault() != SecurityFault::none) return protocol::to_string(ours->fault());
    return ours->peer()->names.front();
  }

  static inline const Address kServer{HostAddress::v4(192, 0, 2, 1), 4000};
  static inline const Address kClient{HostAddress::v4(192, 0, 2, 9), 5000};
  TemporaryFolder folder_;
  Authority authority_{folder_, "root"};
  std::int64_t wall_clock_ = kToday;
  std::string expected_name_;
  std::mutex mutex_;
  std::vector<std::string> log_;
};

TEST_F(TlsProviderTest, TheServerProvesItsAddressUnlessAnotherNameIsExpected) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  EXPECT_EQ(shake(*client, *server, kStart), "server.example");
  HostAddress v6;
  v6.ip = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(shake(*client, *server, kStart, {v6, 4000}), "server.example");
  EXPECT_EQ(shake(*client, *server, kStart, kClient), to_string(SecurityFault::name_mismatch));
  expected_name_ = "server.example";
  EXPECT_EQ(shake(*client, *server, kStart, kClient), "server.example");
  expected_name_ = "other.example";
  EXPECT_EQ(shake(*client, *server, kStart), to_string(SecurityFault::name_mismatch));
}

TEST_F(TlsProviderTest, FilesThatCannotBeUsedAreRefusedAtStart) {
  std::string error;
  TlsConfig config;
  config.files =
      CertificateFiles{folder_.path("client.crt"), folder_.path("server.key"), authority_.certificate_file()};
  EXPECT_EQ(TlsProvider::make(config, error), nullptr);
  EXPECT_THAT(error, HasSubstr("server.key"));
}

TEST_F(TlsProviderTest, NewFilesServeTheHandshakesAfterThem) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  const auto before = server->credentials();
  authority_.issue("server", {"IP:192.0.2.1,DNS:renewed.example"});
  EXPECT_EQ(shake(*client, *server, kStart), "renewed.example");
  EXPECT_THAT(log_, ElementsAre("credentials were read again"));
  EXPECT_NE(server->credentials(), before);

  const auto again = server->credentials();
  EXPECT_EQ(shake(*client, *server, kStart + 10s), "renewed.example");
  EXPECT_EQ(server->credentials(), again) << "read again without need";
}

TEST_F(TlsProviderTest, FilesAreLookedAtOnceASecond) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  EXPECT_EQ(shake(*client, *server, kStart), "server.example");
  authority_.issue("server", {"IP:192.0.2.1,DNS:renewed.example"});
  EXPECT_EQ(shake(*client, *server, kStart + TlsProvider::kCheckInterval - 1ns), "server.example");
  EXPECT_EQ(shake(*client, *server, kStart + TlsProvider::kCheckInterval), "renewed.example");
}

// A certificate is replaced, then its key: in between they do not fit.
TEST_F(TlsProviderTest, HalfOfTheFilesChangesNothing) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  authority_.issue("next", {"IP:192.0.2.1,DNS:renewed.example"});
  std::filesystem::rename(folder_.path("next.crt"), folder_.path("server.crt"));
  EXPECT_EQ(shake(*client, *server, kStart), "server.example");
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_THAT(log_[0], AllOf(HasSubstr("server.key"), HasSubstr("the old ones stay in use")));

  EXPECT_EQ(shake(*client, *server, kStart + 2s), "server.example");
  EXPECT_EQ(log_.size(), 1u) << "said again though nothing had changed";
  std::filesystem::rename(folder_.path("next.key"), folder_.path("server.key"));
  EXPECT_EQ(shake(*client, *server, kStart + 4s), "renewed.example");
}

TEST_F(TlsProviderTest, FilesThatGoAwayChangeNothing) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  std::filesystem::remove(folder_.path("server.key"));
  EXPECT_EQ(shake(*client, *server, kStart), "server.example");
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_THAT(log_[0], HasSubstr("server.key: No such file or directory; the old ones stay in use"));
}

TEST_F(TlsProviderTest, APreSharedKeyChangesLikewise) {
  const PskFile file{"cluster", folder_.write("psk", std::string(32, 'a'))};
  const PskFile copy{"cluster", folder_.write("copy", std::string(32, 'a'))};
  const auto client = make(file);
  const auto server = make(copy);
  EXPECT_EQ(shake(*client, *server, kStart), "psk:cluster");
  folder_.write("psk", std::string(34, 'b'));
  EXPECT_EQ(shake(*client, *server, kStart + 2s), to_string(SecurityFault::wrong_key));
  folder_.write("copy", std::string(34, 'b'));
  EXPECT_EQ(shake(*client, *server, kStart + 4s), "psk:cluster");
}

// The time of the day is asked for each handshake; the endpoint's own clock only counts from some beginning.
TEST_F(TlsProviderTest, CertificatesAreJudgedByTheTimeOfTheDay) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  EXPECT_EQ(shake(*client, *server, kStart + 1000h), "server.example");
  wall_clock_ = kToday + 2 * kDay;
  EXPECT_EQ(shake(*client, *server, kStart + 1000h), to_string(SecurityFault::expired));
  wall_clock_ = kToday - 2 * kDay;
  EXPECT_EQ(shake(*client, *server, kStart + 1000h), to_string(SecurityFault::not_yet_valid));
}

// One provider serves the shards of a process while files change (ThreadSanitizer judges this one).
TEST_F(TlsProviderTest, ManyThreadsBeginHandshakesWhileFilesChange) {
  const auto client = make(files("client"));
  const auto server = make(files("server"));
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        results[i] = shake(*client, *server, kStart + TlsProvider::kCheckInterval * round);
      }
    });
  }
  for (int round = 0; round < 20; ++round) authority_.issue("server", {"IP:192.0.2.1,DNS:server.example"});
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "server.example");
}

}  // namespace
}  // namespace homa::security
