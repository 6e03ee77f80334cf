#include "common/status_macros.h"

#include <gtest/gtest.h>

#include <memory>

namespace c4 {
namespace {

absl::StatusOr<std::unique_ptr<int>> Make(int value) {
  if (value < 0) {
    return absl::InvalidArgumentError("negative");
  }
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Sum(int a, int b) {
  C4_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Make(a));
  C4_ASSIGN_OR_RETURN(const std::unique_ptr<int> second, Make(b));
  return *first + *second;
}

absl::Status Check(int value, int* reached) {
  C4_RETURN_IF_ERROR(Make(value).status());
  *reached = 1;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, AssignMovesTheValueOrReturnsTheError) {
  EXPECT_EQ(Sum(2, 3).value(), 5);
  EXPECT_EQ(Sum(2, -3).status().message(), "negative");
}

TEST(StatusMacrosTest, ReturnStopsAtTheFirstError) {
  int reached = 0;
  EXPECT_FALSE(Check(-1, &reached).ok());
  EXPECT_EQ(reached, 0);
  EXPECT_TRUE(Check(1, &reached).ok());
  EXPECT_EQ(reached, 1);
}

}  // namespace
}  // namespace c4
