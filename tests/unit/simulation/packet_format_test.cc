#include "simulation/packet_format.h"

#include <gtest/gtest.h>

namespace homa::simulation {
namespace {

// A full packet fills an MTU of 1500, and RTTbytes of 10000 bytes of wire carry what the paper says goes unscheduled:
// 1442 + 7886 bytes.
TEST(PacketFormat, SizesAreThePapers) {
  EXPECT_EQ(native_data_frame(kNativePayload, false), 1538u);
  EXPECT_EQ(native_data_frame(1, false), 97u);
  EXPECT_EQ(frame_of(1), kSmallestFrame);
  EXPECT_EQ(kNativeUnscheduledBytes, 1442u + 7886u);
  EXPECT_EQ(native_message_cost(kNativeUnscheduledBytes, kNativeUnscheduledBytes), 10000u);
}

// "80 % load" leaves the application so much of it (application load over load, of the published simulator).
TEST(PacketFormat, ApplicationLoadFactorsAreThePublishedOnes) {
  const std::pair<const char*, double> published[] = {
      {"w1", .657}, {"w2", .796}, {"w3", .887}, {"w4", .898}, {"w5", .898}};
  for (const auto& [name, factor] : published) {
    const auto workload = Workload::load(name);
    ASSERT_TRUE(workload) << workload.error;
    EXPECT_NEAR(application_load_factor(*workload, kNativeUnscheduledBytes), factor, 0.0015) << name;
  }
}

}  // namespace
}  // namespace homa::simulation
