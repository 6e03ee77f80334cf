#include "common/random_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace c4 {
namespace {

TEST(RandomIdTest, ThirtyTwoHexDigitsThatDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string id = RandomId();
    EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(id.size(), 32U);
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace
}  // namespace c4
