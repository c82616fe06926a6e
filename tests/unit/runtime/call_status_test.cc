#include "runtime/call_status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace homa::runtime {
namespace {

TEST(CallStatus, EveryEndHasAnErrorOfItsOwn) {
  using protocol::CallStatus;
  std::set<ErrorCode> codes;
  const int first = static_cast<int>(CallStatus::cancelled);
  const int last = static_cast<int>(CallStatus::shut_down);
  for (int i = first; i <= last; ++i) codes.insert(error_code(static_cast<CallStatus>(i)));
  EXPECT_EQ(codes.size(), static_cast<std::size_t>(last - first + 1));
  EXPECT_EQ(codes.count(ErrorCode::would_block), 0u) << "back-pressure is not an end";
}

constexpr Address kPeer{HostAddress::v4(192, 0, 2, 1), 4000};

std::string text(ErrorCode code, const Address& peer, protocol::PeerTraffic traffic = {}) {
  return call_error(code, peer, traffic).detail();
}

TEST(CallError, NamesThePeerWhateverWentWrong) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::system_error); ++code) {
    EXPECT_NE(text(static_cast<ErrorCode>(code), kPeer).find("192.0.2.1:4000"), std::string::npos) << code;
  }
}

TEST(CallError, CountsPacketsOfASilentPeerOnly) {
  for (const ErrorCode code : {ErrorCode::peer_unreachable, ErrorCode::peer_timeout, ErrorCode::deadline_exceeded}) {
    EXPECT_NE(text(code, kPeer, {7, 0}).find("sent 7 packets, heard 0"), std::string::npos);
    EXPECT_NE(text(code, kPeer, {7, 5}).find("sent 7 packets, heard 5"), std::string::npos);
    EXPECT_NE(text(code, kPeer, {1, 0}).find("sent 1 packet, heard 0"), std::string::npos);
    EXPECT_EQ(text(code, kPeer, {0, 0}).find("packet"), std::string::npos) << "it never left";
  }
  EXPECT_NE(text(ErrorCode::deadline_exceeded, kPeer, {7, 0}).find("firewall"), std::string::npos);
  EXPECT_EQ(text(ErrorCode::deadline_exceeded, kPeer, {7, 5}).find("firewall"), std::string::npos);
  EXPECT_EQ(text(ErrorCode::refused, kPeer, {7, 5}).find("packets"), std::string::npos);
}

TEST(CallError, SaysWhatIsWrongWithAnAddress) {
  const auto says = [](const HostAddress& host, std::uint16_t port, const char* what) {
    EXPECT_NE(text(ErrorCode::no_address, {host, port}).find(what), std::string::npos) << what;
  };
  says(HostAddress::v4(239, 1, 2, 3), 1, "multicast");
  says(HostAddress::v4(255, 255, 255, 255), 1, "broadcast");
  says(HostAddress{}, 1, "every address");
  says(HostAddress{{0xfe, 0x80}}, 1, "without its interface");
  says(HostAddress::v4(192, 0, 2, 1), 0, "port 0");
}

}  // namespace
}  // namespace homa::runtime
