#include "analyzer/localise/tomography.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace c4::localise {
namespace {

Path Between(std::vector<std::string> nodes, bool bad) {
  Path path;
  for (const std::string& node : nodes) {
    path.endpoints.insert({node, "hsn0"});
    path.label += node;
  }
  path.bad = bad;
  return path;
}

TEST(TomographyTest, NicIsWhereBadPathsMeetAndGoodOnesDoNotGo) {
  const Localisation place =
      Intersect({Between({"n0", "n1"}, true), Between({"n1", "n3"}, true),
                 Between({"n2", "n3"}, false), Between({"n0", "n2"}, false)});
  ASSERT_EQ(place.suspects.size(), 1U);
  EXPECT_TRUE(place.unique);
  EXPECT_EQ(place.suspects[0].component.kind, model::component_kind::kNic);
  EXPECT_EQ(place.suspects[0].component.node, "n1");
}

TEST(TomographyTest, LinkWhenBothEndsAreGoodElsewhere) {
  const Localisation place =
      Intersect({Between({"n0", "n1"}, true), Between({"n1", "n3"}, false),
                 Between({"n2", "n3"}, false), Between({"n0", "n2"}, false)});
  ASSERT_EQ(place.suspects.size(), 1U);
  EXPECT_TRUE(place.unique);
  EXPECT_EQ(place.suspects[0].component.kind, model::component_kind::kLink);
  EXPECT_EQ(place.suspects[0].component.node, "n0");
  EXPECT_EQ(place.suspects[0].component.peer_node, "n1");
}

TEST(TomographyTest, SinglePairIsOneOfThree) {
  const Localisation place = Intersect({Between({"n0", "n1"}, true)});
  ASSERT_EQ(place.suspects.size(), 3U);
  EXPECT_FALSE(place.unique);
  EXPECT_EQ(place.suspects[0].component.kind, model::component_kind::kLink);
  EXPECT_NEAR(place.suspects[1].score, 1.0 / 3, 1e-9);
}

TEST(TomographyTest, ContradictionIsTheNetworkAtLarge) {
  const Localisation place = Intersect({Between({"n0", "n1"}, true), Between({"n0", "n1"}, false)});
  ASSERT_EQ(place.suspects.size(), 1U);
  EXPECT_EQ(place.suspects[0].component.kind, model::component_kind::kNetwork);
}

TEST(TomographyTest, PathsInsideANodeSayNothing) {
  EXPECT_TRUE(Intersect({Between({"n0"}, true), Between({"n0", "n1"}, false)}).suspects.empty());
}

}  // namespace
}  // namespace c4::localise
