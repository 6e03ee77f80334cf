#include "common/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace c4 {
namespace {

TEST(LogTest, LinesGoToStderrWithTimeLevelAndProgram) {
  testing::internal::CaptureStderr();
  ASSERT_TRUE(InitLogging("c4-test", "info").ok());
  spdlog::debug("hidden");
  spdlog::warn("seen {}", 42);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("....-..-..T..:..:......Z warning c4-test: seen 42\n"));
}

TEST(LogTest, UnknownLevelIsAnError) {
  EXPECT_EQ(InitLogging("c4-test", "loud").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(InitLogging("c4-test", "off").ok());
}

}  // namespace
}  // namespace c4
