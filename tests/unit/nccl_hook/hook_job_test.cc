// The hook in a whole job: four processes on the CPU stand-ins of tests/nccl_cpu, whose ranks
// really wait for each other. What the analyzer builds on must hold in the files.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "tests/unit/nccl_hook/probe_run.h"

namespace c4::hook {
namespace {

constexpr int kRanks = 4;

class HookJobTest : public testing::Test {
 protected:
  HookJobTest() {
    std::string name = testing::TempDir() + "c4-hook-job-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~HookJobTest() override { std::filesystem::remove_all(directory_); }

  void Start(const std::string& scenario) {
    for (int rank = 0; rank < kRanks; ++rank) {
      ProbeRun::Options options;
      options.environment = {{"LD_LIBRARY_PATH", C4_NCCL_CPU},
                             {"NCCL_SOCKET_IFNAME", "lo"},
                             {"C4_JOB_ID", "job"},
                             {"RANK", std::to_string(rank)},
                             {"WORLD_SIZE", std::to_string(kRanks)}};
      runs_.push_back(std::make_unique<ProbeRun>(
          std::vector<std::string>{C4_HOOK_RANK, scenario, directory_, std::to_string(rank),
                                   std::to_string(kRanks)},
          options));
    }
  }

  std::string directory_;
  std::vector<std::unique_ptr<ProbeRun>> runs_;
};

TEST_F(HookJobTest, RecordsWhatRanksHaveInCommon) {
  Start("train");
  std::vector<HookFile> files;
  for (const auto& run : runs_) {
    ASSERT_EQ(run->Wait(), 0);
    files.push_back(run->File());
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const HookFile& file = files[rank];
    EXPECT_EQ(file.global_rank, rank);
    EXPECT_EQ(file.device, rank);
    EXPECT_EQ(file.dropped + file.untimed + file.captured + file.unknown_communicator, 0U);
    ASSERT_EQ(file.communicators.size(), rank == kRanks - 1 ? 2U : 3U);
    EXPECT_EQ(file.communicators[0].id, files[0].communicators[0].id);
    EXPECT_EQ(file.communicators[0].nccl_hash, files[0].communicators[0].nccl_hash);
    EXPECT_NE(file.communicators[0].nccl_hash, 0U);
    EXPECT_EQ(file.communicators[0].rank, rank);
    EXPECT_EQ(file.communicators[1].id, files[rank % 2].communicators[1].id);
    EXPECT_EQ(file.communicators[1].rank, rank / 2);
    EXPECT_EQ(file.communicators[1].rank_count, 2);
    EXPECT_EQ(file.communicators[1].parent_id, file.communicators[0].id);
    for (const SeenOperation& operation : file.operations) {
      EXPECT_FALSE(operation.is_in_flight);
      EXPECT_LE(operation.enqueue_ns, operation.start_ns);
      EXPECT_LE(operation.start_ns, operation.end_ns);
      EXPECT_EQ(operation.result, 0);
    }
  }
  EXPECT_NE(files[0].communicators[1].id, files[1].communicators[1].id);
  EXPECT_EQ(files[0].communicators[2].id, files[2].communicators[2].id);
  EXPECT_EQ(files[0].communicators[2].rank_count, kRanks - 1);
}

TEST_F(HookJobTest, GivesTheLateRankTheShortestCollective) {
  Start("train");
  std::vector<std::int64_t> durations_ns;
  for (const auto& run : runs_) {
    ASSERT_EQ(run->Wait(), 0);
    const HookFile file = run->File();
    const SeenOperation& last = file.operations.back();
    EXPECT_EQ(last.kind, abi::OperationKind::kAllReduce);
    EXPECT_EQ(last.sequence, 1U);
    durations_ns.push_back(last.end_ns - last.start_ns);
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != 2) {
      EXPECT_LT(durations_ns[2] + 10'000'000, durations_ns[rank]) << rank;
    }
  }
}

TEST_F(HookJobTest, ShowsWhoHasNotStarted) {
  Start("hang");
  for (const auto& run : runs_) {
    ASSERT_TRUE(run->WaitReady());
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool is_stuck = rank == 1;
    const HookFile file = runs_[rank]->File([is_stuck](const HookFile& f) {
      return f.operations.size() == 1 && (is_stuck || f.operations[0].start_ns != 0);
    });
    EXPECT_TRUE(file.operations[0].is_in_flight) << rank;
    EXPECT_EQ(file.operations[0].start_ns == 0, is_stuck) << rank;
    EXPECT_EQ(file.operations[0].result, 0);
    EXPECT_EQ(file.operations[0].sequence, 0U);
  }
}

}  // namespace
}  // namespace c4::hook
