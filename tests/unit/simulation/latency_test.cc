// The two times by which SIGCOMM'18 describes its network (section 5.2).
#include <gtest/gtest.h>

#include "simulation/packet_format.h"
#include "simulation/unloaded.h"
#include "tests/unit/simulation/support.h"

namespace homa::simulation {
namespace {

double us(Time time) {
  return static_cast<double>((time - Time{}).count()) / 1000;
}

TEST(Latency, ASmallMessageTakesTwoPointThreeMicroseconds) {
  const Topology topology = paper_network();
  HostsUnderTest hosts(topology, paper_config(topology));
  hosts.host(0).start_one_way(143, 1, 0);
  hosts.run();
  ASSERT_EQ(hosts.arrivals.size(), 1u);
  EXPECT_NEAR(us(hosts.arrivals[0].when), 2.3, 0.023);
}

// "The total round-trip time for a receiver to send a small grant packet and receive the corresponding full-size data
// packet is thus about 7.8 us": with nothing unscheduled a message of one packet is announced, granted and sent, and
// what it takes beyond its announcement is that round trip.
TEST(Latency, GrantToDataTakesSevenPointEightMicroseconds) {
  const Topology topology = paper_network();
  protocol::Config config = paper_config(topology);
  config.unscheduled_bytes = 0;
  HostsUnderTest hosts(topology, config);
  hosts.host(0).start_one_way(143, kNativePayload, 0);
  hosts.run();
  ASSERT_EQ(hosts.arrivals.size(), 1u);
  // The announcement is a DATA packet without payload.
  UnloadedTimes unloaded(topology, config);
  const double announced = us(Time{} + unloaded.of(0, Distance::same_pod));
  EXPECT_NEAR(us(hosts.arrivals[0].when) - announced, 7.8, 0.1);
}

}  // namespace
}  // namespace homa::simulation
