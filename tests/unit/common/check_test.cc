#include "common/check.h"

#include <gtest/gtest.h>

namespace c4 {
namespace {

TEST(CheckTest, HoldsSilently) {
  C4_CHECK(1 + 1 == 2);
  C4_CHECK(true, "with a reason");
}

TEST(CheckDeathTest, NamesPlaceConditionAndReason) {
  EXPECT_DEATH(C4_CHECK(1 > 2, "numbers moved"), "check_test.cc:.*1 > 2 numbers moved");
}

}  // namespace
}  // namespace c4
