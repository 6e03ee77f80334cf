// The command line: what is taken, and that what is not is refused.
#include "tests/train/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace c4::train {
namespace {

class OptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("RANK", "5", 1);
    setenv("WORLD_SIZE", "8", 1);
    setenv("LOCAL_RANK", "1", 1);
  }
  void TearDown() override {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK"}) unsetenv(name);
  }

  ParseResult Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"c4-train", "--rendezvous", "/tmp"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), &options_);
  }

  Options options_;
};

TEST_F(OptionsTest, DefaultsAreEightRanks) {
  EXPECT_EQ(Parse({}), ParseResult::kRun);
  EXPECT_EQ(options_.rank, 5);
  EXPECT_EQ(options_.world_size, 8);
  EXPECT_EQ(options_.local_rank, 1);
}

TEST_F(OptionsTest, FaultWordsAreOptions) {
  EXPECT_EQ(Parse({"--fault", "mismatch", "--fault-rank", "3", "--mismatch-kind", "op"}),
            ParseResult::kRun);
  EXPECT_EQ(options_.fault.kind, Fault::Kind::kMismatch);
  EXPECT_EQ(options_.fault.rank, 3);
}

TEST_F(OptionsTest, ShapeMustFitTheWorld) {
  EXPECT_EQ(Parse({"--dp", "4"}), ParseResult::kUsageError);
  EXPECT_EQ(Parse({"--dp", "4", "--pp", "1"}), ParseResult::kRun);
}

TEST_F(OptionsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Parse({"--colour", "red"}), ParseResult::kUsageError);
  EXPECT_EQ(Parse({"--steps", "many"}), ParseResult::kUsageError);
  EXPECT_EQ(Parse({"--steps"}), ParseResult::kUsageError);
  EXPECT_EQ(Parse({"--on-error", "panic"}), ParseResult::kUsageError);
}

TEST_F(OptionsTest, RankMustBeInTheWorld) {
  setenv("RANK", "8", 1);
  EXPECT_EQ(Parse({}), ParseResult::kUsageError);
  setenv("RANK", "first", 1);
  EXPECT_EQ(Parse({}), ParseResult::kUsageError);
}

}  // namespace
}  // namespace c4::train
