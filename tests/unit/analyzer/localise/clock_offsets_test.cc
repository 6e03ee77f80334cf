#include "analyzer/localise/clock_offsets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace c4::localise {
namespace {

using model::TimeNs;

constexpr TimeNs kBegin = 1'750'000'000 * model::kSecond;

// Nodes with offsets of up to 50 ms and drifts of up to 20 ppm; each step all ranks meet in an
// operation that takes 100 us after the last has come, and each comes up to 3 ms late.
class Cluster {
 public:
  Cluster(int nodes, int ranks_per_node, unsigned seed) : random_(seed), job_("j", 0) {
    std::uniform_real_distribution<> offset(-50e6, 50e6);
    std::uniform_real_distribution<> drift(-20e-6, 20e-6);
    for (int node = 0; node < nodes; ++node) {
      clocks_.push_back({offset(random_), drift(random_)});
    }
    std::vector<int> all;
    for (int rank = 0; rank < nodes * ranks_per_node; ++rank) {
      model::RankRecord record;
      record.job = "j";
      record.rank = rank;
      record.node = Name(rank / ranks_per_node);
      job_.Apply(record);
      all.push_back(rank);
      node_of_.push_back(rank / ranks_per_node);
    }
    Communicator("world", all);
  }

  void Communicator(const std::string& id, const std::vector<int>& ranks) {
    job_.Apply(model::CommunicatorRecord{"j", 0, id, "", ranks});
  }

  static std::string Name(int node) { return "n" + std::to_string(node); }

  double Local(int node, double time) const {
    return time + clocks_[node].offset + clocks_[node].drift * time;
  }
  double TrueOffset(int from, int to, double time) const {
    return Local(to, time) - Local(from, time);
  }
  TimeNs At(int node, double time) const {
    return kBegin + static_cast<TimeNs>(std::llround(Local(node, time)));
  }

  // Seconds since the begin are `time` / 1e9.
  void Meet(const std::string& id, const std::vector<int>& ranks, std::uint64_t sequence,
            double time, double transfer, ClockOffsets* offsets) {
    std::uniform_real_distribution<> late(0, 3e6);
    std::vector<double> starts;
    double last = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      starts.push_back(time + late(random_));
      last = std::max(last, starts.back());
    }
    std::uniform_real_distribution<> leave(0, 0.1);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      model::OperationRecord op;
      op.job = "j";
      op.rank = ranks[i];
      op.communicator = id;
      op.sequence = sequence;
      op.name = "AllReduce";
      op.enqueue = At(node_of_[ranks[i]], starts[i] - 1000);
      op.start = At(node_of_[ranks[i]], starts[i]);
      op.end = At(node_of_[ranks[i]], last + transfer * (1 + leave(random_)));
      job_.Apply(op);
    }
    job_.AdvanceTo(kBegin + static_cast<TimeNs>(time + 1e9));
    job_.TakeEnqueued();
    job_.TakeSettled();
    for (const model::Instance* instance : job_.TakeCompleted()) {
      offsets->Add(job_, *instance);
    }
  }

 private:
  struct Clock {
    double offset;
    double drift;
  };
  std::mt19937 random_;
  std::vector<Clock> clocks_;
  std::vector<int> node_of_;
  model::JobModel job_;
};

std::vector<int> Range(int from, int to) {
  std::vector<int> ranks;
  for (int rank = from; rank < to; ++rank) {
    ranks.push_back(rank);
  }
  return ranks;
}

TEST(ClockOffsetsTest, TrueOffsetIsInsideABoundOfLessThanAMillisecond) {
  constexpr int kNodes = 8;
  int checked = 0;
  int outside = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Cluster cluster(kNodes, 8, seed);
    ClockOffsets offsets;
    for (int step = 0; step < 200; ++step) {
      const double time = step * 1e9;
      cluster.Meet("world", Range(0, 64), step, time, 100e3, &offsets);
      if (step < 20) {
        continue;
      }
      const auto all = offsets.Relative("n0", cluster.At(0, time));
      ASSERT_EQ(all.size(), static_cast<std::size_t>(kNodes));
      for (int node = 0; node < kNodes; ++node) {
        const ClockOffsets::Offset& offset = all.at(Cluster::Name(node));
        ++checked;
        outside += std::abs(static_cast<double>(offset.offset) -
                            cluster.TrueOffset(0, node, time)) > static_cast<double>(offset.error)
                       ? 1
                       : 0;
        EXPECT_LE(offset.error, model::kMillisecond);
      }
    }
  }
  EXPECT_GT(checked, 7000);
  EXPECT_EQ(outside, 0);
}

TEST(ClockOffsetsTest, NodesThatNeverMeetAreBoundThroughOthers) {
  Cluster cluster(3, 2, 9);
  cluster.Communicator("a", Range(0, 4));
  cluster.Communicator("b", Range(2, 6));
  ClockOffsets offsets;
  for (int step = 0; step < 60; ++step) {
    cluster.Meet("a", Range(0, 4), step, step * 1e9, 100e3, &offsets);
    cluster.Meet("b", Range(2, 6), step, step * 1e9 + 0.3e9, 100e3, &offsets);
  }
  const auto offset = offsets.Between("n0", "n2", cluster.At(0, 60e9));
  ASSERT_TRUE(offset.has_value());
  EXPECT_NEAR(static_cast<double>(offset->offset), cluster.TrueOffset(0, 2, 60e9),
              static_cast<double>(offset->error));
  EXPECT_LE(offset->error, 2 * model::kMillisecond);
}

TEST(ClockOffsetsTest, NothingIsSaidOfNodesThatAreNotConnectedOrLongNotHeardOf) {
  Cluster cluster(3, 2, 9);
  cluster.Communicator("a", Range(0, 4));
  ClockOffsets offsets;
  cluster.Meet("a", Range(0, 4), 0, 1e9, 100e3, &offsets);
  EXPECT_FALSE(offsets.Between("n0", "n2", cluster.At(0, 1e9)).has_value());
  EXPECT_TRUE(offsets.Between("n0", "n1", cluster.At(0, 2e9)).has_value());
  EXPECT_FALSE(offsets.Between("n0", "n1", cluster.At(0, 200e9)).has_value());
}

TEST(ClockOffsetsTest, ErrorGrowsWithAge) {
  Cluster cluster(2, 2, 9);
  ClockOffsets offsets;
  for (int step = 0; step < 30; ++step) {
    cluster.Meet("world", Range(0, 4), step, step * 1e9, 100e3, &offsets);
  }
  const auto now = offsets.Between("n0", "n1", cluster.At(0, 29e9));
  const auto later = offsets.Between("n0", "n1", cluster.At(0, 49e9));
  ASSERT_TRUE(now.has_value() && later.has_value());
  EXPECT_NEAR(static_cast<double>(later->error - now->error), 20e9 * ClockOffsets::kDrift, 1e5);
}

}  // namespace
}  // namespace c4::localise
