// flow_matrix, slow_path, shared_nic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/localise/flow_matrix.h"
#include "analyzer/localise/slow_path.h"
#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

namespace action = model::action;
namespace kind = model::component_kind;

// Twenty seconds of all pairs of four nodes; `factor` makes some slower.
template <typename Factor>
JobBuilder Flows(Factor factor) {
  JobBuilder job(4, 1);
  for (double to = 1; to <= 20; to += 1) {
    for (int from = 0; from < 4; ++from) {
      for (int peer = 0; peer < 4; ++peer) {
        if (from != peer) {
          job.Flow(from, peer, to, 1 << 30, 0.1 * factor(from, peer));
        }
      }
    }
  }
  return job;
}

TEST(FlowMatrixTest, CellIsThePath) {
  JobBuilder job = Flows([](int a, int b) { return a == 1 && b == 2 ? 1.6 : 1; });
  const auto finding = FindSlowFlow(job.Now(20));
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->component.kind, kind::kLink);
  EXPECT_EQ(finding->component.rank, 1);
  EXPECT_EQ(finding->component.peer_rank, 2);
  EXPECT_EQ(finding->action, action::kAlert);
}

TEST(FlowMatrixTest, RowIsTheSendersNicAndColumnTheReceivers) {
  JobBuilder row = Flows([](int a, int) { return a == 3 ? 1.6 : 1; });
  auto finding = FindSlowFlow(row.Now(20));
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->component.kind, kind::kNic);
  EXPECT_EQ(finding->component.node, "n3");
  JobBuilder column = Flows([](int, int b) { return b == 0 ? 1.6 : 1; });
  finding = FindSlowFlow(column.Now(20));
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->component.kind, kind::kNic);
  EXPECT_EQ(finding->component.node, "n0");
}

TEST(FlowMatrixTest, EvenOrCheapIsNothing) {
  JobBuilder even = Flows([](int a, int b) { return 1 + 0.03 * ((a + 2 * b) % 3); });
  EXPECT_FALSE(FindSlowFlow(even.Now(20)).has_value());
  JobBuilder cheap = Flows([](int a, int b) { return a == 1 && b == 2 ? 0.16 : 0.1; });
  EXPECT_FALSE(FindSlowFlow(cheap.Now(20)).has_value());  // 0.6 % of the time
  JobBuilder none(4, 1);
  EXPECT_FALSE(FindSlowFlow(none.Now(20)).has_value());
}

TEST(FlowMatrixTest, SlowOnlyNowIsNotYetSlow) {
  JobBuilder job = Flows([](int, int) { return 1; });
  for (double to = 16; to <= 20; to += 1) {
    job.Flow(1, 2, to, 1 << 30, 0.2);
  }
  EXPECT_FALSE(FindSlowFlow(job.Now(20)).has_value());
}

// Pairs of twins on two nodes, each with a communicator of its own.
struct Pairs {
  explicit Pairs(int pairs) : job(2, pairs) {
    for (int pair = 0; pair < pairs; ++pair) {
      const std::string id(1, static_cast<char>('A' + pair));
      job.Communicator(id, {pair, pair + pairs});
      job.Op(pair, id, 0, {1, 1, 2}).Op(pair + pairs, id, 0, {1, 1, 2});
    }
    for (int pair = 0; pair < pairs; ++pair) {
      model::PathState state;
      for (const model::Operation& operation : job.job().ranks().at(pair).operations) {
        if (operation.communicator == pair + 1) {
          state.example = &operation;
        }
      }
      state.communicator = pair + 1;
      state.past_ns = state.now_ns = 1e8;
      state.per_step = 1;
      state.informative = true;
      states.push_back(state);
    }
  }
  void Slow(int pair, double ratio) {
    states[pair].slow = true;
    states[pair].now_ns *= ratio;
    states[pair].onset = states[pair].certain = At(10);
  }
  std::optional<model::Finding> Find(double now = 20) {
    return LocaliseSlowPaths(job.Now(now), states, model::kSecond);
  }
  JobBuilder job;
  std::vector<model::PathState> states;
};

TEST(SlowPathTest, RateOfItsPortNamesTheNic) {
  for (const char* node : {"n0", "n1"}) {
    Pairs pairs(4);
    pairs.Slow(1, 2);
    for (const char* other : {"n0", "n1"}) {
      for (int nic = 0; nic < 4; ++nic) {
        pairs.job.Gauge(other, "mlx5_" + std::to_string(nic), "rate_gbps", 200);
      }
    }
    pairs.job.Gauge(node, "mlx5_1", "rate_gbps", 100, 9);
    const auto finding = pairs.Find();
    ASSERT_TRUE(finding.has_value());
    EXPECT_EQ(finding->component.kind, kind::kNic);
    EXPECT_EQ(finding->component.node, node);
    EXPECT_EQ(finding->component.nic, "mlx5_1");
    EXPECT_EQ(finding->action, action::kIsolateRestart);
  }
}

TEST(SlowPathTest, RateOfAPortThatIsNotOnTheSlowPathConvictsNobody) {
  Pairs pairs(4);
  pairs.Slow(1, 2);
  for (const char* node : {"n0", "n1"}) {
    for (int nic = 0; nic < 4; ++nic) {
      pairs.job.Gauge(node, "mlx5_" + std::to_string(nic), "rate_gbps", 200);
    }
  }
  pairs.job.Gauge("n0", "mlx5_3", "rate_gbps", 100, 9);
  const auto finding = pairs.Find();
  ASSERT_TRUE(finding.has_value());
  EXPECT_NE(finding->component.nic, "mlx5_3");
  EXPECT_EQ(finding->action, action::kAlert);
}

TEST(SlowPathTest, SlowWithoutAPartIsInformationUntilItLasts) {
  JobBuilder job(4, 4);
  model::PathState state;
  job.Now(10);
  state.example = &job.job().ranks().at(0).operations.back();
  state.past_ns = 1e8;
  state.now_ns = 2e8;
  state.per_step = 1;
  state.slow = state.informative = true;
  state.onset = state.certain = At(10);
  auto finding = LocaliseSlowPaths(job.Now(20), {state}, model::kSecond);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->component.kind, kind::kNetwork);
  EXPECT_EQ(finding->severity, model::Severity::kInfo);
  finding = LocaliseSlowPaths(job.Now(41), {state}, model::kSecond);
  EXPECT_EQ(finding->severity, model::Severity::kFault);
  EXPECT_EQ(finding->action, action::kAlert);
}

TEST(SlowPathTest, SharedNicIsASettingWhenTransfersBearItOut) {
  Pairs pairs(4);
  model::RankRecord second;
  second.job = "j";
  second.rank = 5;
  second.node = "n1";
  second.nic = "mlx5_0";
  pairs.job.Rank(second);
  EXPECT_FALSE(pairs.Find().has_value());  // alike in spite of it
  pairs.states[0].now_ns = pairs.states[1].now_ns = 2e8;
  const auto finding = pairs.Find();
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->component.kind, kind::kConfig);
  EXPECT_EQ(finding->component.node, "n1");
  EXPECT_EQ(finding->action, action::kAlert);
}

TEST(SlowPathTest, SlowerThanTheOperatorExpects) {
  Pairs pairs(4);
  model::JobRecord record;
  record.expected_collective_seconds = 0.09;
  pairs.job.Job(record);
  EXPECT_FALSE(pairs.Find().has_value());
  record.expected_collective_seconds = 0.05;
  pairs.job.Job(record);
  EXPECT_TRUE(pairs.Find().has_value());
}

}  // namespace
}  // namespace c4::localise::testing
