#include "analyzer/model/node_facts.h"

#include <gtest/gtest.h>

namespace c4::model {
namespace {

TEST(NodeFactsTest, GaugesAreAsOfNow) {
  NodeFacts facts;
  facts.Apply(GaugeRecord{"n0", 10, "mlx5_0", "rate_gbps", 200});
  facts.Apply(GaugeRecord{"n0", 20, "mlx5_0", "rate_gbps", 100});
  EXPECT_TRUE(facts.Gauge("n0", "rate_gbps", 9).empty());
  EXPECT_EQ(facts.Gauge("n0", "rate_gbps", 19).at("mlx5_0"), 200);
  EXPECT_EQ(facts.Gauge("n0", "rate_gbps", 20).at("mlx5_0"), 100);
  EXPECT_TRUE(facts.Gauge("n1", "rate_gbps", 20).empty());
}

TEST(NodeFactsTest, GrowthOfACounterSurvivesItsReset) {
  NodeFacts facts;
  for (const auto& [time, value] : {std::pair{0, 5.0}, {10, 7.0}, {20, 1.0}, {30, 4.0}}) {
    facts.Apply(GaugeRecord{"n0", time, "gpu", "aer", value});
  }
  EXPECT_EQ(facts.GaugeGrowth("n0", "aer", 0, 15).at("gpu"), 2);
  EXPECT_EQ(facts.GaugeGrowth("n0", "aer", 0, 30).at("gpu"), 6);
  EXPECT_EQ(facts.GaugeGrowth("n0", "aer", 12, 12).at("gpu"), 0);
  EXPECT_TRUE(facts.GaugeGrowth("n1", "aer", 0, 30).empty());
}

TEST(NodeFactsTest, EventsAreInOrderAndOnce) {
  NodeFacts facts;
  facts.Apply(EventRecord{"n0", 20, "xid", "g", 79, "", 0, ""});
  facts.Apply(EventRecord{"n0", 10, "xid", "g", 45, "", 0, ""});
  facts.Apply(EventRecord{"n0", 20, "xid", "g", 79, "", 0, ""});
  const auto events = facts.Events("n0", 0, 30);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].code, 45);
  EXPECT_EQ(facts.Events("n0", 0, 15).size(), 1U);
}

}  // namespace
}  // namespace c4::model
