#include "analyzer/app/options.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::app {
namespace {

class OptionsTest : public ::testing::Test {
 protected:
  ~OptionsTest() override { ::unsetenv("C4_STORE"); }
  bool Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "c4-analyzer");
    return ParseOptions(static_cast<int>(arguments.size()), arguments.data(), options_, exit_code_);
  }
  Options options_;
  int exit_code_ = -1;
};

TEST_F(OptionsTest, HaveUsefulDefaults) {
  ASSERT_TRUE(Parse({}));
  EXPECT_EQ(options_.listen, "127.0.0.1:7400");
  EXPECT_EQ(options_.store, "/var/lib/c4/analyzer.db");
  EXPECT_FALSE(options_.insecure);
}

TEST_F(OptionsTest, ComeFromFlagsAndEnvironment) {
  ::setenv("C4_STORE", "/tmp/env.db", 1);
  ASSERT_TRUE(Parse({"--listen", "10.0.0.5:1", "--insecure", "--record", "r.jsonl"}));
  EXPECT_EQ(options_.listen, "10.0.0.5:1");
  EXPECT_EQ(options_.store, "/tmp/env.db");
  EXPECT_EQ(options_.record, "r.jsonl");
  EXPECT_TRUE(options_.insecure);
  ASSERT_TRUE(Parse({"--store", "/tmp/flag.db"}));
  EXPECT_EQ(options_.store, "/tmp/flag.db") << "a flag wins";
}

TEST_F(OptionsTest, UsageErrorsAreTwo) {
  EXPECT_FALSE(Parse({"--nonsense"}));
  EXPECT_EQ(exit_code_, 2);
  EXPECT_FALSE(Parse({"--log-level", "loud"}));
  EXPECT_EQ(exit_code_, 2);
}

TEST_F(OptionsTest, HelpAndVersionAreNoErrors) {
  EXPECT_FALSE(Parse({"--help"}));
  EXPECT_EQ(exit_code_, 0);
  EXPECT_FALSE(Parse({"--version"}));
  EXPECT_EQ(exit_code_, 0);
}

}  // namespace
}  // namespace c4::app
