#include "analyzer/detect/chain.h"

#include <gtest/gtest.h>

#include <random>

namespace c4::detect {
namespace {

const std::string kNames[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast"};
const std::string kType = "bfloat16";

// Feeds operations with given names and gaps before them, settled at once.
class Feeder {
 public:
  explicit Feeder(Chain* chain) : chain_(chain) {}
  void Add(int name, double gap_ms, bool lost = false) {
    now_ += static_cast<model::TimeNs>(gap_ms * 1e6);
    model::Operation operation;
    operation.name = &kNames[name];
    operation.datatype = &kType;
    operation.enqueue = now_ - 1000;
    operation.start = now_;
    operation.end = now_ + 1000;
    const std::uint64_t sequence = next_++;
    if (!lost) {
      chain_->Add(sequence, operation);
      chain_->Settle(sequence, operation);
    }
    chain_->Search();
  }

 private:
  Chain* chain_;
  std::uint64_t next_ = 0;
  model::TimeNs now_ = 1'000'000'000;
};

TEST(ChainTest, LikeOperationsAtEvenDistanceRepeatAfterOne) {
  Chain chain;
  Feeder feed(&chain);
  for (int i = 0; i < 40; ++i) {
    feed.Add(0, 50);
  }
  EXPECT_EQ(chain.length(), 1U);
  EXPECT_NEAR(static_cast<double>(chain.duration()), 50e6, 1e6);
}

// Five buckets of a backward pass, then the forward pass: alike, but not even.
TEST(ChainTest, LikeOperationsInBurstsRepeatAfterTheBurst) {
  std::mt19937 random(1);
  std::normal_distribution<> jitter(1, 0.03);
  Chain chain;
  Feeder feed(&chain);
  for (int step = 0; step < 20; ++step) {
    for (int bucket = 0; bucket < 5; ++bucket) {
      feed.Add(0, (bucket == 0 ? 200 : 30) * jitter(random));
    }
  }
  EXPECT_EQ(chain.length(), 5U);
}

TEST(ChainTest, NamesTellTheStep) {
  Chain chain;
  Feeder feed(&chain);
  for (int step = 0; step < 10; ++step) {
    for (const int name : {1, 1, 2, 2, 0}) {
      feed.Add(name, 20);
    }
  }
  EXPECT_EQ(chain.length(), 5U);
  int boundaries = 0;
  for (const Chain::Entry& entry : chain.entries()) {
    boundaries += chain.IsBoundary(entry) ? 1 : 0;
  }
  EXPECT_EQ(boundaries, 10);
}

TEST(ChainTest, HolesDoNotHideTheRepeat) {
  std::mt19937 random(5);
  Chain chain;
  Feeder feed(&chain);
  for (int step = 0; step < 30; ++step) {
    for (const int name : {1, 2, 2, 0}) {
      feed.Add(name, 20, std::uniform_int_distribution<>(0, 30)(random) == 0);
    }
  }
  EXPECT_EQ(chain.length(), 4U);
}

TEST(ChainTest, OneOperationMoreShiftsTheStepAndManyEndIt) {
  Chain chain;
  Feeder feed(&chain);
  const auto steps = [&](int count) {
    for (int step = 0; step < count; ++step) {
      for (const int name : {1, 1, 2, 2, 2, 2, 2, 0}) {
        feed.Add(name, 20);
      }
    }
  };
  steps(8);
  ASSERT_EQ(chain.length(), 8U);
  const std::uint64_t losses = chain.losses();
  feed.Add(3, 20);
  steps(3);
  EXPECT_EQ(chain.length(), 8U);
  EXPECT_EQ(chain.losses(), losses);
  for (int i = 0; i < 30; ++i) {
    feed.Add(3, 7);  // an evaluation
  }
  EXPECT_GT(chain.losses(), losses);
}

TEST(ChainTest, WithoutRhythmNothingIsFound) {
  std::mt19937 random(9);
  std::exponential_distribution<> gap(1 / 50.0);
  Chain chain;
  Feeder feed(&chain);
  for (int i = 0; i < 300; ++i) {
    feed.Add(0, gap(random));
  }
  EXPECT_EQ(chain.length(), 0U);
}

TEST(ChainTest, HistoryIsBounded) {
  Chain chain;
  model::Operation operation;
  operation.name = &kNames[0];
  operation.datatype = &kType;
  for (std::uint64_t i = 0; i < 8 * Chain::kLengthMax; ++i) {
    operation.enqueue = static_cast<model::TimeNs>(i + 1);
    chain.Add(i, operation);
  }
  EXPECT_LE(chain.entries().size(), 3 * Chain::kLengthMax + 1);
  // A leap is not filled with holes.
  chain.Add(1ULL << 60, operation);
  EXPECT_EQ(chain.entries().size(), 1U);
}

}  // namespace
}  // namespace c4::detect
