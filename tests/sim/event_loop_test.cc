#include "testing/event_loop.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace homa::sim {
namespace {

struct Recorder final : EventTarget {
  explicit Recorder(EventLoop& l) : loop(l) {}
  void on_event(std::uint8_t kind, std::uint64_t argument) override {
    seen.push_back(argument);
    kinds.push_back(kind);
    times.push_back(loop.now());
  }
  EventLoop& loop;
  std::vector<std::uint64_t> seen;
  std::vector<std::uint8_t> kinds;
  std::vector<Time> times;
};

TEST(EventLoop, RunsInOrderOfTime) {
  EventLoop loop;
  Recorder recorder(loop);
  Rng rng(7);
  for (int i = 0; i < 10000; ++i) loop.at(Time(Duration(rng.below(1000))), recorder, 0, 0);
  while (loop.step()) {
  }
  ASSERT_EQ(recorder.times.size(), 10000u);
  EXPECT_TRUE(std::is_sorted(recorder.times.begin(), recorder.times.end()));
}

TEST(EventLoop, EqualTimesRunInOrderOfScheduling) {
  EventLoop loop;
  Recorder recorder(loop);
  for (std::uint64_t i = 0; i < 1000; ++i) loop.at(Time(5ns), recorder, static_cast<std::uint8_t>(255 - i % 256), i);
  while (loop.step()) {
  }
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(recorder.seen[i], i);
  EXPECT_EQ(recorder.kinds[1], 254);
}

TEST(EventLoop, ThePastIsNow) {
  EventLoop loop;
  Recorder recorder(loop);
  loop.run_until(Time(100ns));
  loop.at(Time(10ns), recorder);
  loop.step();
  EXPECT_EQ(recorder.times[0], Time(100ns));
}

TEST(EventLoop, RunUntilStopsAtTheEndOrThePredicate) {
  EventLoop loop;
  Recorder recorder(loop);
  for (int i = 1; i <= 10; ++i) loop.at(Time(Duration(10 * i)), recorder);
  loop.run_until(Time(35ns));
  EXPECT_EQ(recorder.seen.size(), 3u);
  EXPECT_EQ(loop.now(), Time(35ns));
  EXPECT_TRUE(loop.run_until([&] { return recorder.seen.size() == 5; }, Time(1s)));
  EXPECT_EQ(loop.now(), Time(50ns));
  EXPECT_FALSE(loop.run_until([] { return false; }, Time(80ns)));
  EXPECT_EQ(recorder.seen.size(), 8u);
  EXPECT_EQ(loop.next_time(), Time(90ns));
}

}  // namespace
}  // namespace homa::sim
