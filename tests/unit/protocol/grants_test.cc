// The receiver's scheduler: rules of SIGCOMM'18 sections 3.3 to 3.5 one by one, and random operations against
// invariants.
#include "protocol/grants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "protocol/budget.h"

namespace homa::protocol {
namespace {

constexpr std::uint64_t kWindow = 20'000;

class Scheduling : public testing::Test {
 protected:
  SharedBudget budget_{30'000};  // of the test that shares one; outlives what gives back to it
  Scheduling() {
    config_.oldest_share = 0;
    settings_.max_incoming = 1'000'000;
    settings_.scheduled_levels = 4;
  }
  ~Scheduling() override {
    if (scheduler_ == nullptr) return;
    for (InMessage& message : messages_) {
      scheduler_->remove(message);
      scheduler_->forget_incoming(message);
    }
    EXPECT_EQ(scheduler_->total_incoming(), 0U);
    EXPECT_FALSE(scheduler_->wants_grants());
  }
  GrantScheduler& scheduler() {
    if (scheduler_ == nullptr) scheduler_ = std::make_unique<GrantScheduler>(config_);
    return *scheduler_;
  }
  Host& host() { return hosts_.emplace_back(); }
  InMessage& add(Host& host, std::uint64_t length) {
    InMessage& message = messages_.emplace_back();
    message.length = length;
    message.window = kWindow;
    message.host = &host;
    message.age = messages_.size();
    scheduler().add(message);
    return message;
  }
  std::set<const InMessage*> run() {
    std::set<const InMessage*> granted;
    scheduler().run(settings_, [&](InMessage& message) { granted.insert(&message); });
    return granted;
  }
  void arrive(InMessage& message, std::uint64_t bytes) {
    message.received_bytes = std::min(message.length, message.received_bytes + bytes);
    message.stalled = false;
    scheduler().count_incoming(message);
    if (message.authorised < message.length) {
      scheduler().add(message);
      scheduler().reorder(message);
    }
  }

  Config config_;
  GrantSettings settings_;
  std::deque<Host> hosts_;
  std::deque<InMessage> messages_;
  std::unique_ptr<GrantScheduler> scheduler_;
};

TEST_F(Scheduling, ShortestMessagesAreGrantedFirst) {
  config_.overcommitment = 2;
  InMessage& longest = add(host(), 300'000);
  InMessage& shortest = add(host(), 100'000);
  InMessage& middle = add(host(), 200'000);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&shortest, &middle}));
  EXPECT_EQ(longest.authorised, 0U);
  EXPECT_EQ(shortest.authorised, kWindow);
}

TEST_F(Scheduling, AShorterNewcomerTakesThePlaceOfTheLongest) {
  config_.overcommitment = 2;
  InMessage& first = add(host(), 300'000);
  InMessage& second = add(host(), 200'000);
  run();
  InMessage& newcomer = add(host(), 50'000);
  arrive(first, kWindow);
  arrive(second, kWindow);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&newcomer, &second}));
}

TEST_F(Scheduling, OneMessageOfEachHostComesBeforeASecondOfTheSame) {
  config_.overcommitment = 3;
  Host& busy = host();
  InMessage& shortest = add(busy, 50'000);
  InMessage& second_of_busy = add(busy, 51'000);
  InMessage& other = add(host(), 400'000);
  InMessage& third = add(host(), 500'000);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&shortest, &other, &third}));
  scheduler().remove(third);
  scheduler().forget_incoming(third);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&second_of_busy})) << "a place is left, so a second one may";
}

TEST_F(Scheduling, AShorterMessageOfTheSameHostTakesThePlaceThoughAnotherHostWaits) {
  config_.overcommitment = 1;
  Host& busy = host();
  InMessage& active = add(busy, 100'000);
  add(host(), 200'000);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&active}));
  InMessage& shorter = add(busy, 10'000);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&shorter}));
}

TEST_F(Scheduling, NoMoreThanTheOvercommitmentAtOnce) {
  for (const int overcommitment : {1, 3, 8}) {
    messages_.clear();
    hosts_.clear();
    config_.overcommitment = static_cast<std::uint8_t>(overcommitment);
    scheduler_ = std::make_unique<GrantScheduler>(config_);
    for (std::uint64_t i = 0; i < 20; ++i) add(host(), 100'000 + i);
    EXPECT_EQ(run().size(), static_cast<std::size_t>(overcommitment));
    for (InMessage& message : messages_) {
      scheduler().remove(message);
      scheduler().forget_incoming(message);
    }
  }
}

TEST_F(Scheduling, MaxIncomingIsNeverExceeded) {
  settings_.max_incoming = 2 * kWindow + 5000;
  for (std::uint64_t i = 0; i < 8; ++i) add(host(), 100'000 + i);
  run();
  EXPECT_EQ(scheduler().total_incoming(), settings_.max_incoming);
  EXPECT_TRUE(run().empty());
  arrive(messages_[0], 1000);
  run();
  EXPECT_EQ(scheduler().total_incoming(), settings_.max_incoming);
}

TEST_F(Scheduling, TheOldestsShareIsBoundByMaxIncomingToo) {
  // The oldest has its window outstanding and is silent, while others receive much: its credit must not pile up.
  config_.oldest_share = 0.05;
  config_.overcommitment = 2;
  settings_.max_incoming = 3 * kWindow;
  settings_.smallest_step = 2904;
  InMessage& oldest = add(host(), 100'000'000);
  run();
  for (int i = 0; i < 200; ++i) {
    InMessage& other = add(host(), 100'000);
    while (other.received_bytes < other.length) {
      run();
      ASSERT_LE(scheduler().total_incoming(), settings_.max_incoming);
      arrive(other, 5000);
    }
    scheduler().remove(other);
    scheduler().forget_incoming(other);
  }
  arrive(oldest, kWindow);
  run();
  EXPECT_LE(scheduler().total_incoming(), settings_.max_incoming);
}

TEST_F(Scheduling, TheOldestIsNotStarvedByShorterOnes) {
  config_.oldest_share = 0.05;
  config_.overcommitment = 1;
  settings_.smallest_step = 2904;
  InMessage& oldest = add(host(), 10'000'000);
  std::uint64_t others = 0;
  for (int i = 0; i < 300; ++i) {
    InMessage& other = add(host(), 50'000);
    while (other.received_bytes < other.length) {
      run();
      arrive(other, kWindow);
      arrive(oldest, oldest.authorised - oldest.received_bytes);
    }
    others += other.length;
  }
  const double share = static_cast<double>(oldest.received_bytes) / static_cast<double>(others);
  EXPECT_GT(share, 0.03);
  EXPECT_LT(share, 0.08);
}

TEST_F(Scheduling, AStalledMessageGivesItsPlaceAwayAndComesBack) {
  config_.overcommitment = 1;
  InMessage& silent = add(host(), 100'000);
  InMessage& other = add(host(), 500'000);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&silent}));
  scheduler().stall(silent);
  EXPECT_EQ(scheduler().total_incoming(), 0U) << "what will not come does not count";
  EXPECT_EQ(run(), (std::set<const InMessage*>{&other}));
  arrive(silent, 1000);
  arrive(other, kWindow);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&silent})) << "it speaks again, and is the shorter one";
}

TEST_F(Scheduling, AStalledMessageIsGrantedWhenNobodyElseWants) {
  config_.overcommitment = 1;
  InMessage& silent = add(host(), 100'000);
  run();
  scheduler().stall(silent);
  silent.received_bytes = 1000;
  scheduler().reorder(silent);
  EXPECT_EQ(run(), (std::set<const InMessage*>{&silent}));
}

TEST_F(Scheduling, FewMessagesUseTheLowestLevelsAndTheBestTheHighestOfThose) {
  settings_.lowest_level = 1;
  add(host(), 100'000);
  add(host(), 200'000);
  add(host(), 300'000);
  run();
  EXPECT_EQ(index(messages_[0].granted_priority), 3);
  EXPECT_EQ(index(messages_[1].granted_priority), 2);
  EXPECT_EQ(index(messages_[2].granted_priority), 1);
}

TEST_F(Scheduling, ManyMessagesShareTheLowestLevel) {
  for (std::uint64_t i = 0; i < 7; ++i) add(host(), 100'000 * (i + 1));
  run();
  const int expected[] = {3, 2, 1, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(index(messages_[i].granted_priority), expected[i]) << i;
}

TEST_F(Scheduling, CrumbsAreNotGrantedButTheRestOfAMessageIs) {
  settings_.smallest_step = 3000;
  InMessage& message = add(host(), kWindow + 3500);
  run();
  arrive(message, 2000);
  EXPECT_TRUE(run().empty()) << "2000 would be a crumb";
  arrive(message, 1500);
  EXPECT_EQ(run().size(), 1U) << "3500, all that is left";
  EXPECT_EQ(message.authorised, message.length);
}

TEST_F(Scheduling, TheAllowanceBoundsOneRound) {
  settings_.allowance = 30'000;
  for (int i = 0; i < 5; ++i) add(host(), 100'000);
  EXPECT_EQ(scheduler().run(settings_, [](InMessage&) {}), 30'000U);
}

TEST_F(Scheduling, ShardsShareOneBudgetOfIncomingBytes) {
  SharedBudget& budget = budget_;
  config_.shared_incoming = &budget;
  add(host(), 100'000);
  run();
  EXPECT_EQ(budget.used(), kWindow);
  GrantScheduler other_shard(config_);
  Host elsewhere;
  InMessage message;
  message.length = 100'000;
  message.window = kWindow;
  message.host = &elsewhere;
  other_shard.add(message);
  other_shard.run(settings_, [](InMessage&) {});
  EXPECT_EQ(message.authorised, 10'000U);
  EXPECT_EQ(budget.room(), 0U);
  other_shard.remove(message);
  other_shard.forget_incoming(message);
  EXPECT_EQ(budget.used(), kWindow);
}

/// Which messages shortest-first with one per host first would choose: by how many better ones the host has, then by
/// order. Slow and obvious.
std::set<const InMessage*> best_places(const std::vector<InMessage*>& wanting, std::size_t places) {
  std::vector<InMessage*> sorted = wanting;
  std::sort(sorted.begin(), sorted.end(), [](const InMessage* a, const InMessage* b) { return GrantOrder()(*a, *b); });
  std::map<const Host*, int> of_host;
  std::vector<std::tuple<bool, int, std::size_t>> ranked;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    ranked.emplace_back(sorted[i]->stalled, of_host[sorted[i]->host]++, i);
  std::sort(ranked.begin(), ranked.end());
  std::set<const InMessage*> best;
  for (std::size_t i = 0; i < std::min(places, ranked.size()); ++i) best.insert(sorted[std::get<2>(ranked[i])]);
  return best;
}

TEST(GrantScheduler, RandomOperationsKeepTheInvariants) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Config config;
    config.overcommitment = static_cast<std::uint8_t>(1 + rng.below(4));
    config.oldest_share = seed % 2 == 0 ? 0.05 : 0;
    GrantScheduler scheduler(config);
    GrantSettings settings;
    settings.max_incoming = 50'000 + rng.below(50'000);
    settings.smallest_step = 1 + rng.below(3000);
    settings.scheduled_levels = static_cast<std::uint8_t>(1 + rng.below(6));
    settings.lowest_level = 1;
    std::deque<Host> hosts(1 + rng.below(5));
    std::deque<InMessage> messages;
    std::vector<InMessage*> live;
    for (int i = 0; i < 600; ++i) {
      InMessage* message = live.empty() ? nullptr : live[rng.below(live.size())];
      switch (rng.below(7)) {
        case 0:
          if (live.size() >= 20) break;
          message = &messages.emplace_back();
          message->length = 1000 + rng.below(200'000);
          message->window = 5000 + rng.below(20'000);
          message->host = &hosts[rng.below(hosts.size())];
          message->age = messages.size();
          message->message_class = static_cast<std::uint8_t>(rng.below(2));
          live.push_back(message);
          scheduler.add(*message);
          break;
        case 1:
        case 2: {
          if (message == nullptr || message->authorised <= message->received_bytes) break;
          message->received_bytes += 1 + rng.below(message->authorised - message->received_bytes);
          message->stalled = false;
          scheduler.count_incoming(*message);
          scheduler.reorder(*message);
          break;
        }
        case 3:
          if (message != nullptr && rng.chance(0.3)) scheduler.stall(*message);
          break;
        case 4:
          if (message == nullptr || !rng.chance(0.2)) break;
          scheduler.remove(*message);
          scheduler.forget_incoming(*message);
          live.erase(std::find(live.begin(), live.end(), message));
          break;
        default: {
          std::map<const InMessage*, std::uint64_t> before;
          std::vector<InMessage*> wanting;
          for (InMessage* m : live) {
            before[m] = m->authorised;
            if (scheduler.contains(*m)) wanting.push_back(m);
          }
          const std::uint64_t incoming_before = scheduler.total_incoming();
          const auto best = best_places(wanting, config.overcommitment);
          std::uint64_t sum = 0;
          const std::uint64_t granted = scheduler.run(settings, [&](InMessage& m) {
            ASSERT_GT(m.authorised, before[&m]);
            ASSERT_LE(m.authorised, m.length);
            ASSERT_GE(index(m.granted_priority), settings.lowest_level);
            ASSERT_LT(index(m.granted_priority), settings.lowest_level + settings.scheduled_levels);
            // The oldest may be granted out of its turn.
            if (config.oldest_share == 0) {
              ASSERT_EQ(best.count(&m), 1U) << "not among the best";
            }
          });
          for (InMessage* m : live) sum += m->authorised - before[m];
          ASSERT_EQ(granted, sum);
          ASSERT_LE(scheduler.total_incoming(), std::max(incoming_before, settings.max_incoming));
          break;
        }
      }
      std::uint64_t incoming = 0;
      std::map<const Host*, std::uint32_t> active;
      for (const InMessage* m : live) {
        incoming += m->counted_incoming;
        active[m->host] += m->active ? 1U : 0U;
        ASSERT_TRUE(scheduler.contains(*m) || !m->active);
      }
      ASSERT_EQ(scheduler.total_incoming(), incoming);
      std::uint32_t all_active = 0;
      for (const Host& host : hosts) {
        ASSERT_EQ(host.active, active[&host]);
        all_active += host.active;
      }
      ASSERT_LE(all_active, config.overcommitment);
    }
    for (InMessage* message : live) {
      scheduler.remove(*message);
      scheduler.forget_incoming(*message);
    }
    ASSERT_EQ(scheduler.total_incoming(), 0U);
    ASSERT_FALSE(scheduler.wants_grants());
    for (const Host& host : hosts) ASSERT_TRUE(host.waiting.empty());
  }
}

// Config::fixed_policy: a grant is whole packets, so that no short ones arise, and the window is passed by less than
// one.
TEST_F(Scheduling, WholePacketsAreGrantedUntilTheWindowIsFull) {
  settings_.whole_packet = 1442;
  InMessage& message = add(host(), 100'000);
  run();
  const std::uint64_t whole = (kWindow + 1441) / 1442 * 1442;
  EXPECT_EQ(message.authorised, whole);
  arrive(message, 100);
  run();
  EXPECT_EQ(message.authorised, whole) << "the window is still full";
  arrive(message, 1442);
  run();
  EXPECT_EQ(message.authorised, whole + 1442);
  arrive(message, 98'000 - 1542);
  run();
  EXPECT_EQ(message.authorised, message.length) << "the rest is no whole packet";
}

}  // namespace
}  // namespace homa::protocol
