#include "agent/uplink/uplink.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/uplink/fake_analyzer.h"

namespace c4::agent {
namespace {

using testing::FakeAnalyzer;
using Mode = FakeAnalyzer::Mode;

Payload Text(const std::string& job) {
  v1::Batch batch;
  batch.add_processes()->set_job(job);
  Payload payload;
  payload.control = batch.SerializeAsString();
  payload.control_records = 1;
  return payload;
}

// The records' jobs say what was delivered; each in the order of its first arrival.
std::vector<std::string> Delivered(const FakeAnalyzer& analyzer) {
  std::vector<std::string> jobs;
  std::set<std::uint64_t> seen;
  for (const v1::Batch& batch : analyzer.batches) {
    if (seen.insert(batch.sequence()).second) {
      for (const v1::Process& process : batch.processes()) jobs.push_back(process.job());
    }
  }
  return jobs;
}

class UplinkTest : public ::testing::Test {
 protected:
  void StartUplink(const std::string& address) {
    Uplink::Options options;
    options.address = address;
    options.hello.set_node("n0");
    options.hello.set_agent_instance("a1");
    options.backoff = {.initial_ns = 1'000'000, .maximum_ns = 20'000'000, .minimum_ns = 1'000'000};
    options.welcome_timeout_ns = 300 * kMillisecondNs;
    options.progress_timeout_ns = 300 * kMillisecondNs;
    uplink_ = std::make_unique<Uplink>(options, &clock_, [] { return 0.5; });
    uplink_->Start();
  }
  // The event loop's part: answers a new analyzer's wish for everything.
  bool AnswerRestart(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < deadline) {
      if (uplink_->TakeRestartRequest()) {
        uplink_->PushRestart(Text(text));
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  SystemClock clock_;
  std::unique_ptr<Uplink> uplink_;
};

TEST_F(UplinkTest, GreetsTellsEverythingThenDelivers) {
  FakeAnalyzer analyzer("i1", Mode::kAcknowledge);
  StartUplink(analyzer.address());
  ASSERT_TRUE(AnswerRestart("all"));
  uplink_->Push(Text("b"));
  uplink_->Push(Text("c"));
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return a.batches.size() >= 3; }));
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(analyzer.hellos.at(0).node(), "n0");
  EXPECT_EQ(Delivered(analyzer), (std::vector<std::string>{"all", "b", "c"}));
  EXPECT_EQ(uplink_->GetStats().spool_bytes, 0U);
}

TEST_F(UplinkTest, ResendsExactlyWhatTheAnalyzerHasNotTakenIn) {
  FakeAnalyzer analyzer("i1", Mode::kAcknowledge);
  StartUplink(analyzer.address());
  ASSERT_TRUE(AnswerRestart("all"));
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return !a.batches.empty(); }));
  analyzer.SetMode(Mode::kEndsStream);
  uplink_->Push(Text("b"));
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return a.streams_ended >= 2; }));
  analyzer.SetMode(Mode::kAcknowledge);
  uplink_->Push(Text("c"));
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(Delivered(analyzer), (std::vector<std::string>{"all", "b", "c"}));
  EXPECT_EQ(analyzer.batches.front().sequence(), 1U);
  EXPECT_EQ(analyzer.batches.back().sequence(), 3U);
  for (const v1::Batch& batch : analyzer.batches) {
    EXPECT_EQ(batch.processes(0).job(),
              batch.sequence() == 1 ? "all" : (batch.sequence() == 2 ? "b" : "c"));
  }
}

TEST_F(UplinkTest, AnAnalyzerThatIsNotThereYetGetsEverythingLater) {
  int port = 0;
  { port = FakeAnalyzer("i0", Mode::kAcknowledge).port(); }
  StartUplink("127.0.0.1:" + std::to_string(port));
  uplink_->Push(Text("early"));
  FakeAnalyzer analyzer("i1", Mode::kAcknowledge, port);
  ASSERT_TRUE(AnswerRestart("all"));
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(Delivered(analyzer), (std::vector<std::string>{"early", "all"}));
}

TEST_F(UplinkTest, ANewAnalyzerIsToldEverythingBeforeAnythingElse) {
  auto first = std::make_unique<FakeAnalyzer>("i1", Mode::kAcknowledge);
  const int port = first->port();
  StartUplink(first->address());
  ASSERT_TRUE(AnswerRestart("all1"));
  ASSERT_TRUE(first->Await([](const auto& a) { return !a.batches.empty(); }));
  first.reset();
  Payload operations;
  operations.operations = "never decoded";
  operations.operation_counts.push_back({"j", 0, 1});
  uplink_->Push(std::move(operations));
  FakeAnalyzer second("i2", Mode::kAcknowledge, port);
  ASSERT_TRUE(AnswerRestart("all2"));
  uplink_->Push(Text("after"));
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(Delivered(second), (std::vector<std::string>{"all2", "after"}));
  EXPECT_TRUE(uplink_->GetStats().dropped.empty());
}

TEST_F(UplinkTest, SilenceEndsTheStreamAndTheBatchesComeAgain) {
  FakeAnalyzer analyzer("i1", Mode::kSilent);
  StartUplink(analyzer.address());
  ASSERT_TRUE(AnswerRestart("all"));
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return a.hellos.size() >= 2; }));
  analyzer.SetMode(Mode::kAcknowledge);
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(Delivered(analyzer), (std::vector<std::string>{"all"}));
  EXPECT_EQ(uplink_->GetStats().spool_bytes, 0U);
}

TEST_F(UplinkTest, AnAnalyzerThatStopsReadingBlocksNobody) {
  FakeAnalyzer analyzer("i1", Mode::kAcknowledge);
  StartUplink(analyzer.address());
  ASSERT_TRUE(AnswerRestart("all"));
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return !a.batches.empty(); }));
  analyzer.SetMode(Mode::kStopsReading);
  // Far more than flow control lets through, from a thread that must not wait.
  for (int i = 0; i < 200; ++i) {
    Payload payload;
    payload.operations.assign(1 << 20, '\0');
    payload.operation_counts.push_back({"j", 0, 1});
    uplink_->Push(std::move(payload));
  }
  EXPECT_LE(uplink_->GetStats().spool_bytes, kSpoolBytesMax);
  EXPECT_GT(uplink_->GetStats().dropped.at({"j", 0}), 100U);
  const std::int64_t begin_ns = clock_.MonotonicNs();
  uplink_->Stop(0);
  EXPECT_LT(clock_.MonotonicNs() - begin_ns, 20 * kSecondNs);
}

TEST_F(UplinkTest, ABatchThatEndsEveryStreamIsGivenUp) {
  FakeAnalyzer analyzer("i1", Mode::kEndsStream);
  StartUplink(analyzer.address());
  ASSERT_TRUE(AnswerRestart("poison"));
  const auto attempts = static_cast<std::size_t>(kAttemptsPerBatchMax);
  ASSERT_TRUE(analyzer.Await([&](const auto& a) { return a.streams_ended >= attempts; }));
  analyzer.SetMode(Mode::kAcknowledge);
  uplink_->Push(Text("good"));
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(analyzer.batches.back().processes(0).job(), "good");
}

class NonsenseTest : public UplinkTest, public ::testing::WithParamInterface<Mode> {};

TEST_P(NonsenseTest, CostsTheStreamAndNothingElse) {
  FakeAnalyzer analyzer("i1", GetParam());
  StartUplink(analyzer.address());
  uplink_->Push(Text("a"));
  if (GetParam() == Mode::kAcksTheFuture) {
    ASSERT_TRUE(AnswerRestart("all"));
  }
  ASSERT_TRUE(analyzer.Await([](const auto& a) { return a.hellos.size() >= 2; }));
  analyzer.SetMode(Mode::kAcknowledge);
  if (GetParam() != Mode::kAcksTheFuture) {
    ASSERT_TRUE(AnswerRestart("all"));
  }
  uplink_->Stop(10 * kSecondNs);
  EXPECT_EQ(Delivered(analyzer), (std::vector<std::string>{"a", "all"}));
}

INSTANTIATE_TEST_SUITE_P(Modes, NonsenseTest,
                         ::testing::Values(Mode::kNoWelcome, Mode::kAcksTheFuture,
                                           Mode::kWelcomesTwice, Mode::kEmptyWelcome, Mode::kRaw));

TEST_F(UplinkTest, StopsAtOnceWhenNobodyIsThere) {
  StartUplink("127.0.0.1:1");
  uplink_->Push(Text("a"));
  uplink_->Stop(0);
  EXPECT_FALSE(uplink_->GetStats().is_connected);
}

}  // namespace
}  // namespace c4::agent
