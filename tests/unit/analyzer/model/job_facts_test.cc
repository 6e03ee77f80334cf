#include "analyzer/model/job_facts.h"

#include <gtest/gtest.h>

namespace c4::model {
namespace {

TEST(JobFactsTest, PhaseIsTheNewestThatHasBegun) {
  JobFacts facts;
  EXPECT_EQ(facts.PhaseAt(5).name, "");
  facts.Apply(PhaseRecord{"j", 30, "train"});
  facts.Apply(PhaseRecord{"j", 10, "checkpoint"});
  facts.Apply(PhaseRecord{"j", 40, "checkpoint"});
  EXPECT_EQ(facts.PhaseAt(29).name, "checkpoint");
  EXPECT_EQ(facts.PhaseAt(30).name, "train");
  EXPECT_EQ(facts.LongestPhase("checkpoint", 29), 0);  // not over yet
  EXPECT_EQ(facts.LongestPhase("checkpoint", 50), 20);
}

TEST(JobFactsTest, FlowsAreKeptByConnectionAndBounded) {
  JobFacts facts;
  for (TimeNs to = 1; to <= 100; ++to) {
    facts.Apply(FlowRecord{"j", 0, 1, "W", 0, 7, 1, 1, to - 1, to, 0});
    facts.Apply(FlowRecord{"j", 0, 1, "W", 0, 7, 1, 1, to - 1, to, 0});
  }
  EXPECT_EQ(facts.Flows(0, 100).size(), JobFacts::kFlowsPerConnection);
  EXPECT_EQ(facts.Flows(90, 95).size(), 5U);
  EXPECT_EQ(facts.Flows(95, 90).size(), 0U);
}

}  // namespace
}  // namespace c4::model
