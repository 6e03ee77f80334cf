// The whole agent against a fake analyzer, with the system's clock.
#include "agent/app/agent.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"
#include "tests/unit/agent/uplink/fake_analyzer.h"

namespace c4::agent {
namespace {

using testing::FakeAnalyzer;
using testing::FakeHook;

class AgentTest : public ::testing::Test {
 protected:
  ~AgentTest() override {
    StopAgent();
    close(stop_fd_);
  }
  void StartAgent(const std::string& analyzer) {
    Options options;
    options.analyzer = analyzer;
    options.node = "n0";
    options.run_dir = root_.Path("run");
    options.sys_root = root_.Path("sys");
    auto agent = Agent::Create(options, {.clock = &clock_,
                                         .uniform = [] { return 0.1; },
                                         .agent_instance = "a1",
                                         .stop_fd = stop_fd_});
    ASSERT_TRUE(agent.ok()) << agent.status();
    agent_ = *std::move(agent);
    thread_ = std::thread([this] { EXPECT_TRUE(agent_->Run().ok()); });
  }
  void StopAgent() {
    if (thread_.joinable()) {
      eventfd_write(stop_fd_, 1);
      thread_.join();
    }
  }
  std::unique_ptr<FakeHook> AddThisProcess() {
    const auto ticks = ParseStat(*ReadFile("/proc/self/stat", 4096))->start_ticks;
    auto hook = std::make_unique<FakeHook>(
        root_.Path("run/1-1.c4"), FakeHook::Options{.pid = getpid(), .start_ticks = ticks});
    hook->AddCommunicator(0, 11);
    return hook;
  }
  // Whether an operation with this enqueue time came before, or with, the first batch that said
  // everything up to it had been delivered.
  bool IsDeliveredInTime(const FakeAnalyzer& analyzer, std::int64_t enqueue_ns) {
    for (const v1::Batch& batch : analyzer.batches) {
      for (const v1::Operation& operation : batch.operations()) {
        // The agent took its offset of the clocks a moment earlier than this test.
        if (std::abs(operation.enqueue() - time_.Unix(enqueue_ns)) < 10 * kMillisecondNs) {
          return true;
        }
      }
      if (batch.complete_until() >= time_.Unix(enqueue_ns)) return false;
    }
    return false;
  }

  testing::Scratch root_;
  SystemClock clock_;
  NodeTime time_{clock_};
  const int stop_fd_ = eventfd(0, EFD_CLOEXEC);
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
};

TEST_F(AgentTest, DeliversWhatAppearsLaterAndStopsCleanly) {
  FakeAnalyzer analyzer("i1", FakeAnalyzer::Mode::kAcknowledge);
  StartAgent(analyzer.address());
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return !a.batches.empty(); }));
  root_.Write("run/.keep", "");  // the directory appears only now
  const auto hook = AddThisProcess();
  hook->Run(clock_.MonotonicNs());
  ASSERT_TRUE(analyzer.Await(
      [](const auto& a) { return !a.batches.empty() && a.batches.back().operations_size() > 0; }));
  hook->Run(clock_.MonotonicNs());
  StopAgent();
  int operations = 0;
  for (const v1::Batch& batch : analyzer.batches) operations += batch.operations_size();
  EXPECT_EQ(operations, 2);
  EXPECT_EQ(analyzer.hellos[0].node(), "n0");
  EXPECT_EQ(analyzer.hellos[0].agent_instance(), "a1");
}

TEST_F(AgentTest, CompleteUntilKeepsItsPromiseAndAdvances) {
  root_.Write("run/.keep", "");
  const auto hook = AddThisProcess();
  FakeAnalyzer analyzer("i1", FakeAnalyzer::Mode::kAcknowledge);
  StartAgent(analyzer.address());
  std::vector<std::int64_t> enqueued;
  for (int round = 1; round <= 10; ++round) {
    enqueued.push_back(clock_.MonotonicNs());
    hook->Run(enqueued.back());
    const auto batches = static_cast<std::size_t>(round);
    ASSERT_TRUE(analyzer.Await([&](const auto& a) { return a.batches.size() >= batches; }));
  }
  StopAgent();
  for (const std::int64_t time_ns : enqueued) EXPECT_TRUE(IsDeliveredInTime(analyzer, time_ns));
  std::int64_t before_ns = 0;
  for (const v1::Batch& batch : analyzer.batches) {
    EXPECT_GE(batch.complete_until(), before_ns);
    before_ns = batch.complete_until();
  }
}

TEST_F(AgentTest, ARestartedAnalyzerLearnsEverythingAgain) {
  root_.Write("run/.keep", "");
  const auto hook = AddThisProcess();
  for (int i = 0; i < 5; ++i) hook->Run(clock_.MonotonicNs());
  auto first = std::make_unique<FakeAnalyzer>("i1", FakeAnalyzer::Mode::kAcknowledge);
  const int port = first->port();
  StartAgent(first->address());
  ASSERT_TRUE(first->Await([](const auto& a) { return !a.batches.empty(); }));
  first.reset();
  FakeAnalyzer second("i2", FakeAnalyzer::Mode::kAcknowledge, port);
  ASSERT_TRUE(second.Await([](const auto& a) {
    for (const v1::Batch& batch : a.batches) {
      if (batch.operations_size() > 0) return true;
    }
    return false;
  }));
  StopAgent();
  int ranks = 0;
  int communicators = 0;
  int operations = 0;
  for (const v1::Batch& batch : second.batches) {
    // What an operation is of comes before it.
    ranks += batch.ranks_size();
    communicators += batch.communicators_size();
    if (batch.operations_size() > 0) {
      EXPECT_GT(ranks, 0);
      EXPECT_GT(communicators, 0);
    }
    operations += batch.operations_size();
  }
  EXPECT_EQ(operations, 5);
}

TEST_F(AgentTest, StopsInTimeWithoutAnAnalyzer) {
  StartAgent("127.0.0.1:1");
  const std::int64_t begin_ns = clock_.MonotonicNs();
  StopAgent();
  EXPECT_LT(clock_.MonotonicNs() - begin_ns, 30 * kSecondNs);
}

}  // namespace
}  // namespace c4::agent
