#include "nccl_hook/identity.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace c4::hook {
namespace {

std::map<std::string, std::string> g_variables;

const char* Get(const char* name) {
  const auto found = g_variables.find(name);
  return found != g_variables.end() ? found->second.c_str() : nullptr;
}

Identity Read(std::map<std::string, std::string> variables) {
  g_variables = std::move(variables);
  return ReadIdentity(Get);
}

std::string Job(const Identity& identity) {
  return std::string(identity.job, strnlen(identity.job, sizeof(identity.job)));
}

TEST(Identity, IsUnknownInAnEmptyEnvironment) {
  const Identity identity = Read({});
  EXPECT_EQ(identity.global_rank, -1);
  EXPECT_EQ(identity.world_size, -1);
  EXPECT_EQ(identity.local_rank, -1);
  EXPECT_EQ(identity.restart_count, 0U);
  EXPECT_EQ(Job(identity), "");
  EXPECT_STREQ(identity.node, "");
}

TEST(Identity, ReadsTorchrun) {
  const Identity identity = Read({{"RANK", "13"},
                                  {"WORLD_SIZE", "16"},
                                  {"LOCAL_RANK", "5"},
                                  {"TORCHELASTIC_RUN_ID", "run7"},
                                  {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(identity.global_rank, 13);
  EXPECT_EQ(identity.world_size, 16);
  EXPECT_EQ(identity.local_rank, 5);
  EXPECT_EQ(identity.restart_count, 2U);
  EXPECT_EQ(Job(identity), "run7");
}

TEST(Identity, ReadsSlurm) {
  const Identity identity = Read({{"SLURM_JOB_ID", "4711"},
                                  {"SLURM_STEP_ID", "0"},
                                  {"SLURM_PROCID", "3"},
                                  {"SLURM_NTASKS", "8"},
                                  {"SLURM_LOCALID", "1"},
                                  {"SLURMD_NODENAME", "gpu-17"},
                                  {"SLURM_RESTART_COUNT", "1"}});
  EXPECT_EQ(identity.global_rank, 3);
  EXPECT_EQ(identity.world_size, 8);
  EXPECT_EQ(identity.local_rank, 1);
  EXPECT_EQ(identity.restart_count, 1U);
  EXPECT_EQ(Job(identity), "4711.0");
  EXPECT_STREQ(identity.node, "gpu-17");
}

// torchrun started by Slurm, one task per node: SLURM_PROCID is the node's number.
TEST(Identity, PrefersTorchrunsRankInsideSlurm) {
  const Identity identity = Read({{"SLURM_JOB_ID", "4711"},
                                  {"SLURM_PROCID", "1"},
                                  {"SLURM_NTASKS", "2"},
                                  {"RANK", "9"},
                                  {"WORLD_SIZE", "16"},
                                  {"LOCAL_RANK", "1"}});
  EXPECT_EQ(identity.global_rank, 9);
  EXPECT_EQ(identity.world_size, 16);
  EXPECT_EQ(Job(identity), "4711");
}

TEST(Identity, ReadsOpenMpiAndPmi) {
  EXPECT_EQ(Read({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).world_size, 4);
  EXPECT_EQ(Read({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}).global_rank, 2);
}

TEST(Identity, LetsTheOperatorDecide) {
  const Identity identity = Read({{"C4_JOB_ID", "llama"},
                                  {"SLURM_JOB_ID", "4711"},
                                  {"C4_NODE_NAME", "rack3-n4"},
                                  {"SLURMD_NODENAME", "gpu-17"},
                                  {"C4_RESTART_COUNT", "5"},
                                  {"SLURM_RESTART_COUNT", "1"}});
  EXPECT_EQ(Job(identity), "llama");
  EXPECT_STREQ(identity.node, "rack3-n4");
  EXPECT_EQ(identity.restart_count, 5U);
}

TEST(Identity, NamesKubernetesJobsWithTheirNamespace) {
  EXPECT_EQ(Job(Read({{"JOBSET_NAME", "train"}, {"POD_NAMESPACE", "team-a"}})), "train@team-a");
}

TEST(Identity, FallsBackToTheRendezvousAddress) {
  EXPECT_EQ(Job(Read({{"TORCHELASTIC_RUN_ID", "none"},
                      {"MASTER_ADDR", "10.0.0.1"},
                      {"MASTER_PORT", "29500"}})),
            "10.0.0.1:29500");
}

TEST(Identity, IgnoresNonsense) {
  const Identity identity = Read({{"RANK", "seven"}, {"WORLD_SIZE", "8"}, {"PMI_RANK", "1"}});
  EXPECT_EQ(identity.global_rank, 1);
  EXPECT_EQ(identity.world_size, -1);
  EXPECT_EQ(Read({{"RANK", "8"}, {"WORLD_SIZE", "8"}}).world_size, -1);
}

TEST(Identity, CutsLongLabels) {
  const Identity identity = Read({{"SLURM_JOB_ID", std::string(100, 'x')}, {"SLURM_STEP_ID", "1"}});
  EXPECT_EQ(Job(identity), std::string(64, 'x'));
}

TEST(ParseNumber, TakesOnlyWholeNumbers) {
  EXPECT_EQ(ParseNumber("0"), 0);
  EXPECT_EQ(ParseNumber("2147483647"), 2147483647);
  EXPECT_EQ(ParseNumber("2147483648"), -1);
  EXPECT_EQ(ParseNumber("-1"), -1);
  EXPECT_EQ(ParseNumber("1 "), -1);
  EXPECT_EQ(ParseNumber(""), -1);
  EXPECT_EQ(ParseNumber(nullptr), -1);
}

}  // namespace
}  // namespace c4::hook
