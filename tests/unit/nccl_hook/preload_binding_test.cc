// The ways in which a program comes to NCCL, and programs that never do.
#include <gtest/gtest.h>

#include "tests/unit/nccl_hook/probe_run.h"

namespace c4::hook {
namespace {

TEST(PreloadBinding, SeesNcclBelowALocalLibrary) {
  ProbeRun run({UnlinkedProgram(), "local"}, {});
  ASSERT_EQ(run.Wait(), 0);
  const HookFile file = run.File();
  ASSERT_EQ(file.operations.size(), 1U);
  EXPECT_EQ(file.operations[0].count, 77U);
}

TEST(PreloadBinding, SeesNcclInsideALargerLibrary) {
  ProbeRun::Options options;
  options.nccl = "";
  ProbeRun run({UnlinkedProgram(), "static"}, options);
  ASSERT_EQ(run.Wait(), 0);
  const HookFile file = run.File();
  ASSERT_EQ(file.operations.size(), 1U);
  EXPECT_EQ(file.operations[0].count, 77U);
}

TEST(PreloadBinding, SeesUsersOfDlsym) {
  ProbeRun run({UnlinkedProgram(), "handle"}, {});
  ASSERT_EQ(run.Wait(), 0);
  const HookFile file = run.File();
  ASSERT_EQ(file.operations.size(), 1U);
  EXPECT_EQ(file.operations[0].count, 78U);
  ASSERT_EQ(file.communicators.size(), 1U);
  EXPECT_EQ(file.communicators[0].state, abi::CommunicatorState::kDestroyed);
}

TEST(PreloadBinding, LeavesDlsymAloneWhenTold) {
  ProbeRun::Options options;
  options.environment = {{"C4_HOOK_DLSYM", "0"}};
  ProbeRun run({UnlinkedProgram(), "handle"}, options);
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_TRUE(run.Files().empty());
}

TEST(PreloadBinding, SurvivesQuestionsBeforeNcclIsThere) {
  ProbeRun run({UnlinkedProgram(), "later"}, {});
  ASSERT_EQ(run.Wait(), 0);
  EXPECT_EQ(run.File().operations.size(), 1U);
}

TEST(PreloadBinding, DoesNotInventFunctions) {
  ProbeRun::Options options;
  options.nccl = "old";
  const HookFile file = RunScenario("missing_functions", options);
  ASSERT_EQ(file.operations.size(), 1U);
  EXPECT_EQ(file.operations[0].kind, abi::OperationKind::kAllReduce);
}

TEST(PreloadBinding, IsOffWhenTold) {
  ProbeRun::Options options;
  options.environment = {{"C4_HOOK", "0"}};
  ProbeRun run({ProbeProgram(), "collectives"}, options);
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_TRUE(run.Files().empty());
}

TEST(PreloadBinding, LetsTheJobRunWhereItCannotWrite) {
  ProbeRun::Options options;
  options.environment = {{"C4_RUN_DIR", "/proc/nowhere"}};
  ProbeRun run({ProbeProgram(), "collectives"}, options);
  EXPECT_EQ(run.Wait(), 0);
}

// Every shell and data loader of a job has the preload too.
TEST(PreloadIdle, LeavesProgramsWithoutNcclAlone) {
  const std::vector<std::vector<std::string>> commands = {
      {"true"},
      {"bash", "-c", "echo $(ls /proc/self/task | wc -l)"},
      {"python3", "-c", "import ctypes, os; print(len(os.listdir('/proc/self/task')))"},
  };
  for (const std::vector<std::string>& command : commands) {
    ProbeRun run(command, {});
    EXPECT_EQ(run.Wait(), 0) << command[0];
    EXPECT_TRUE(run.output().empty() || run.output() == "1\n") << command[0] << run.output();
    EXPECT_TRUE(run.Files().empty()) << command[0];
  }
}

}  // namespace
}  // namespace c4::hook
