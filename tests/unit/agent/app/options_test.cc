#include "agent/app/options.h"

#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"

namespace c4::agent {
namespace {

bool Parse(std::vector<const char*> arguments, Options* options, int* exit_code) {
  arguments.insert(arguments.begin(), "c4-agent");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data(), *options, *exit_code);
}

TEST(OptionsTest, FlagsWinOverTheEnvironment) {
  setenv("C4_ANALYZER", "from-environment:1", 1);
  setenv("C4_NODE_NAME", "node-from-environment", 1);
  Options options;
  int exit_code = 0;
  ASSERT_TRUE(Parse({}, &options, &exit_code));
  EXPECT_EQ(options.analyzer, "from-environment:1");
  EXPECT_EQ(options.node, "node-from-environment");
  Options again;
  ASSERT_TRUE(
      Parse({"--analyzer", "a:2", "--node", "n", "--sys-root", "/host/sys"}, &again, &exit_code));
  EXPECT_EQ(again.analyzer, "a:2");
  EXPECT_EQ(again.node, "n");
  EXPECT_EQ(again.sys_root, "/host/sys");
  unsetenv("C4_ANALYZER");
  unsetenv("C4_NODE_NAME");
}

TEST(OptionsTest, TheNodeHasAlwaysAName) {
  unsetenv("C4_NODE_NAME");
  unsetenv("SLURMD_NODENAME");
  Options options;
  int exit_code = 0;
  ASSERT_TRUE(Parse({}, &options, &exit_code));
  EXPECT_FALSE(options.node.empty());
  setenv("SLURMD_NODENAME", "slurm7", 1);
  Options slurm;
  ASSERT_TRUE(Parse({}, &slurm, &exit_code));
  EXPECT_EQ(slurm.node, "slurm7");
  unsetenv("SLURMD_NODENAME");
}

TEST(OptionsTest, WrongUsageIsTwoHelpIsZero) {
  Options options;
  int exit_code = 0;
  EXPECT_FALSE(Parse({"--nonsense"}, &options, &exit_code));
  EXPECT_EQ(exit_code, 2);
  EXPECT_FALSE(Parse({"--log-level", "loud"}, &options, &exit_code));
  EXPECT_EQ(exit_code, 2);
  EXPECT_FALSE(Parse({"--help"}, &options, &exit_code));
  EXPECT_EQ(exit_code, 0);
}

}  // namespace
}  // namespace c4::agent
