#include "testing/event_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
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

// The near future waits in a wheel and the far one in a heap: the border must not show. A mixture of distances is held
// against the order that a stable sort gives, events that schedule events included.
TEST(EventLoop, NearAndFarKeepOneOrder) {
  struct Planned {
    Time time;
    std::uint64_t number;
  };
  struct Planner final : EventTarget {
    EventLoop loop;
    Rng rng{11};
    std::vector<Planned> planned;
    std::vector<std::uint64_t> seen;
    void plan() {
      constexpr std::uint64_t kSpans[] = {1, 64, 8191, 8192, 8193, 20000, 5000000};
      const Time when = loop.now() + Duration(rng.below(kSpans[rng.below(std::size(kSpans))]));
      planned.push_back({when, planned.size()});
      loop.at(when, *this, 0, planned.back().number);
    }
    void on_event(std::uint8_t, std::uint64_t argument) override {
      seen.push_back(argument);
      if (planned.size() < 200000) {
        plan();
        if (rng.chance(0.1)) plan();
      }
    }
  } planner;
  for (int i = 0; i < 500; ++i) planner.plan();
  while (planner.loop.step()) {
  }
  std::stable_sort(planner.planned.begin(), planner.planned.end(),
                   [](const Planned& a, const Planned& b) { return a.time < b.time; });
  ASSERT_EQ(planner.seen.size(), planner.planned.size());
  for (std::size_t i = 0; i < planner.seen.size(); ++i) ASSERT_EQ(planner.seen[i], planner.planned[i].number) << i;
  EXPECT_EQ(planner.loop.pending(), 0u);
}

// After a leap over the whole wheel its slots are used again.
TEST(EventLoop, TimeMayLeapFurtherThanTheWheel) {
  EventLoop loop;
  Recorder recorder(loop);
  loop.at(Time(3ns), recorder, 0, 1);
  loop.run_until(Time(1s));
  loop.at(Time(1s) + 5ns, recorder, 0, 2);
  loop.at(Time(1s) + 8000ns, recorder, 0, 3);
  loop.run_until(Time(2s));
  EXPECT_EQ(recorder.seen, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(recorder.times.back(), Time(1s) + 8000ns);
}

}  // namespace
}  // namespace homa::sim
