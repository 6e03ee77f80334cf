#include "agent/app/tracked_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "agent/limits.h"
#include "agent/telemetry/proc_parsers.h"
#include "common/clock.h"
#include "common/file.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

// With the real /proc: this process is the rank.
class TrackedFileTest : public ::testing::Test {
 protected:
  TrackedFileTest() : directory_(open(root_.path().c_str(), O_RDONLY | O_DIRECTORY)) {
    hook_.AddCommunicator(0, 11);
  }
  ~TrackedFileTest() override { close(directory_); }
  static testing::FakeHook::Options ThisProcess() {
    return {.pid = getpid(),
            .start_ticks = ParseStat(*ReadFile("/proc/self/stat", 4096))->start_ticks};
  }
  std::int64_t Poll() { return file_.Poll(clock_.MonotonicNs(), &pass_, &builder_, &losses_); }
  v1::Batch Take() {
    v1::Batch all;
    for (const Payload& payload : builder_.Take(0, 0)) {
      all.MergeFromString(payload.control + payload.operations);
    }
    return all;
  }

  testing::Scratch root_;
  ManualClock clock_{10'000 * kSecondNs};
  testing::FakeHook hook_{root_.Path("1-1.c4"), ThisProcess()};
  int directory_;
  TrackedFile file_{"1-1.c4", clock_.MonotonicNs()};
  RingPass pass_;
  BatchBuilder builder_{NodeTime(clock_)};
  LossLedger losses_;
};

TEST_F(TrackedFileTest, WatchesTheProcessThatWroteIt) {
  file_.Open(directory_, "/proc", clock_.MonotonicNs());
  EXPECT_EQ(file_.state(), TrackedFile::State::kLive);
  EXPECT_EQ(file_.pid(), getpid());
  file_.CheckProcess(clock_.MonotonicNs());
  EXPECT_EQ(file_.state(), TrackedFile::State::kLive);
}

TEST_F(TrackedFileTest, AnUnpublishedPositionHoldsThePassBack) {
  file_.Open(directory_, "/proc", clock_.MonotonicNs());
  EXPECT_EQ(Poll(), 0);
  const auto position = hook_.Claim();
  EXPECT_EQ(Poll(), clock_.MonotonicNs());
  hook_.Publish(position, clock_.MonotonicNs());
  EXPECT_EQ(Poll(), 0);
}

TEST_F(TrackedFileTest, ANicThatBecomesKnownTellsTheRankAgain) {
  file_.Open(directory_, "/proc", clock_.MonotonicNs());
  Poll();
  EXPECT_EQ(Take().ranks(0).nic(), "");
  file_.SetNic("hsn0");
  Poll();
  EXPECT_EQ(Take().ranks(0).nic(), "hsn0");
  file_.SetNic("hsn0");
  Poll();
  EXPECT_EQ(Take().ranks_size(), 0);
}

TEST_F(TrackedFileTest, AFileThatNeverGetsAHeaderIsGivenUp) {
  root_.Write("2-2.c4", "");
  TrackedFile file("2-2.c4", clock_.MonotonicNs());
  file.Open(directory_, "/proc", clock_.MonotonicNs());
  EXPECT_EQ(file.state(), TrackedFile::State::kOpening);
  clock_.Advance(kHeaderPatienceNs + 1);
  file.Open(directory_, "/proc", clock_.MonotonicNs());
  EXPECT_EQ(file.state(), TrackedFile::State::kBad);
}

TEST_F(TrackedFileTest, JobsWithoutANameShareOne) {
  std::string(64, '\0').copy(hook_.header().job, 64);
  file_.Open(directory_, "/proc", clock_.MonotonicNs());
  Poll();
  EXPECT_EQ(Take().ranks(0).job(), "default");
}

}  // namespace
}  // namespace c4::agent
