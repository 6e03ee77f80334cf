#include "analyzer/localise/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

using ::testing::ElementsAre;

TEST(WaitGraphTest, RootOfABroadcastIsWaitedForAndTheOthersAreNot) {
  JobBuilder job(1, 3);
  for (const int rank : {1, 2}) {
    model::OperationRecord op;
    op.job = "j";
    op.rank = rank;
    op.communicator = "W";
    op.sequence = job.next();
    op.name = "Broadcast";
    op.root = 0;
    op.enqueue = op.start = At(6);
    job.job().Apply(op);
  }
  job.Now(20);
  const WaitGraph graph = BuildWaitGraph(job.job(), At(20));
  ASSERT_EQ(graph.sinks.size(), 1U);
  EXPECT_EQ(graph.sinks[0].rank, 0);
  EXPECT_EQ(graph.sinks[0].pending, nullptr);
  EXPECT_THAT(graph.waiting, ElementsAre(1, 2));
}

TEST(WaitGraphTest, EverybodyInsideIsFull) {
  JobBuilder job(1, 3);
  job.Hang().Now(20);
  const WaitGraph graph = BuildWaitGraph(job.job(), At(20));
  EXPECT_EQ(graph.full.size(), 3U);
  EXPECT_TRUE(graph.sinks.empty());
  EXPECT_TRUE(graph.cycles.empty());
}

TEST(WaitGraphTest, TwoThatSendToEachOtherAreACircle) {
  JobBuilder job(1, 2);
  for (const int rank : {0, 1}) {
    model::OperationRecord op;
    op.job = "j";
    op.rank = rank;
    op.communicator = "W";
    op.name = "Send";
    op.count = 1 << 20;
    op.peer = 1 - rank;
    op.enqueue = op.start = At(6);
    job.job().Apply(op);
  }
  job.Now(20);
  const WaitGraph graph = BuildWaitGraph(job.job(), At(20));
  EXPECT_TRUE(graph.sinks.empty());
  ASSERT_EQ(graph.cycles.size(), 1U);
  EXPECT_THAT(graph.cycles[0], ElementsAre(0, 1));
}

TEST(WaitGraphTest, WhatHasNotHappenedYetDoesNotCount) {
  JobBuilder job(1, 3);
  job.Hang({2}).Op(2, "W", job.next(), {9, 9}).Now(8);
  EXPECT_EQ(BuildWaitGraph(job.job(), At(8)).sinks.size(), 1U);
  job.Now(10);
  EXPECT_TRUE(BuildWaitGraph(job.job(), At(10)).sinks.empty());
}

}  // namespace
}  // namespace c4::localise::testing
