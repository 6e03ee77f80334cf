// A recording of a live run, analysed afterwards, gives the verdicts of the live run: the same
// ones, in the same order, to the bit. With the real engine, on a small training job that loses a
// rank.
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "analyzer/api/owner.h"
#include "analyzer/api/real_engine.h"
#include "analyzer/api/verdict_proto.h"
#include "analyzer/ingest/trace_reader.h"
#include "analyzer/store/sqlite_store.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_link.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::app {
namespace {

using model::kMillisecond;
using model::kSecond;

constexpr int kNodes = 2;
constexpr int kRanksPerNode = 4;
constexpr int kVictim = 6;
constexpr int kLastGoodStep = 12;

// Remembers what the engine said, in order.
class ListeningEngine final : public api::EnginePort {
 public:
  void Apply(const model::Record& record) override { engine_.Apply(record); }
  std::vector<model::Verdict> Advance(model::TimeNs watermark) override {
    std::vector<model::Verdict> verdicts = engine_.Advance(watermark);
    for (const model::Verdict& verdict : verdicts) {
      said.push_back(fmt::format("{} {}", watermark, api::ToProto(verdict).DebugString()));
    }
    return verdicts;
  }
  void Restore(const std::vector<model::Verdict>& open) override { engine_.Restore(open); }
  std::vector<model::JobSummary> Jobs() const override { return engine_.Jobs(); }
  std::vector<std::string> said;

 private:
  api::RealEngine engine_;
};

// One all-reduce per second over all ranks; from kLastGoodStep + 1 on, kVictim is gone.
class Job {
 public:
  explicit Job(model::TimeNs begin) : begin_(begin) {}

  // What the node's agent knows between two moments.
  v1::Batch Batch(int node, std::uint64_t sequence, model::TimeNs from, model::TimeNs to) {
    v1::Batch batch = api::MakeBatch(sequence, to);
    for (int rank = node * kRanksPerNode; rank < (node + 1) * kRanksPerNode; ++rank) {
      if (sequence == 1) {
        api::AddRank(batch, rank);
        v1::Communicator& communicator = *batch.add_communicators();
        communicator.set_job("j1");
        communicator.set_rank(rank);
        communicator.set_id(0xabc);
        communicator.set_member(rank);
        communicator.set_size(kNodes * kRanksPerNode);
      }
      for (int step = 0; step <= kLastGoodStep + 1; ++step) AddStep(batch, rank, step, from, to);
      if (rank == kVictim && Within(Death(), from, to)) AddDeath(batch);
    }
    return batch;
  }

 private:
  static bool Within(model::TimeNs time, model::TimeNs from, model::TimeNs to) {
    return time > from && time <= to;
  }
  model::TimeNs Begin(int step) const { return begin_ + step * kSecond; }
  model::TimeNs Death() const { return Begin(kLastGoodStep) + 500 * kMillisecond; }

  void AddStep(v1::Batch& batch, int rank, int step, model::TimeNs from, model::TimeNs to) {
    if (rank == kVictim && step > kLastGoodStep) return;
    const model::TimeNs enqueue = Begin(step) + rank * kMillisecond;
    const model::TimeNs start = enqueue + kMillisecond / 10;
    const model::TimeNs end = Begin(step) + 60 * kMillisecond + rank;
    const bool ends = step <= kLastGoodStep;
    if (!Within(enqueue, from, to) && !(ends && Within(end, from, to))) return;
    api::AddOperation(batch, rank, static_cast<std::uint64_t>(step), enqueue);
    v1::Operation& op = *batch.mutable_operations(batch.operations_size() - 1);
    if (start <= to) op.set_start(start);
    if (ends && end <= to) op.set_end(end);
  }
  void AddDeath(v1::Batch& batch) {
    v1::Process& process = *batch.add_processes();
    process.set_job("j1");
    process.set_rank(kVictim);
    process.set_time(Death());
    process.set_state("exited");
    process.set_code(-1);
    process.set_signal(9);
  }

  const model::TimeNs begin_;
};

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest()
      : path_(fmt::format("{}replay_{}.jsonl", ::testing::TempDir(), ::getpid())),
        store_(*store::SqliteStore::Open(":memory:")) {}
  ~ReplayTest() override { std::filesystem::remove(path_); }

  void RunLive() {
    auto recorder = *ingest::TraceRecorder::Open(path_);
    api::Owner owner({}, {.clock = &clock_,
                          .engine = &live_,
                          .store = store_.get(),
                          .board = &board_,
                          .recorder = recorder.get()});
    Job job(clock_.RealtimeNs() + 4 * kSecond);
    std::mt19937 random(7);
    std::vector<std::shared_ptr<api::FakeLink>> links;
    std::vector<model::TimeNs> sent(kNodes, 0);
    std::vector<std::uint64_t> sequence(kNodes, 0);
    for (int node = 0; node < kNodes; ++node) {
      links.push_back(std::make_shared<api::FakeLink>());
      owner.Take(
          {links.back(), NodeName(node), clock_.MonotonicNs(), api::AgentHello{"1.2.3", "i1"}});
    }
    for (int tick = 0; tick < 600; ++tick) {
      clock_.Advance(100 * kMillisecond);
      for (int node = 0; node < kNodes; ++node) {
        // Agents send at their own pace, and the second one's node dies near the end.
        if (random() % 3 == 0 || (node == 1 && tick > 400)) continue;
        const model::TimeNs now = clock_.RealtimeNs();
        v1::Batch batch = job.Batch(node, ++sequence[node], sent[node], now);
        sent[node] = now;
        owner.Take({links[node], NodeName(node), clock_.MonotonicNs(),
                    ingest::DecodeBatch(std::move(batch), NodeName(node), now + kSecond)});
      }
      owner.Tick();
    }
  }
  void Replay() {
    ingest::TraceStats stats;
    const auto source = ingest::OpenTrace(path_);
    ASSERT_TRUE(source.ok()) << source.status();
    const absl::Status status =
        ingest::ReadTrace(**source, {.strict = true},
                          {.record = [&](const model::Record& record) { replayed_.Apply(record); },
                           .watermark = [&](model::TimeNs time) { replayed_.Advance(time); },
                           .bad_line = {}},
                          stats);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(stats.ends_with_watermark);
  }
  static std::string NodeName(int node) { return fmt::format("n{}", node); }

  const std::string path_;
  ManualClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  api::Board board_;
  ListeningEngine live_;
  ListeningEngine replayed_;
};

TEST_F(ReplayTest, GivesTheVerdictsOfTheLiveRun) {
  RunLive();
  Replay();
  EXPECT_EQ(replayed_.said, live_.said);
  ASSERT_FALSE(live_.said.empty()) << "a test without verdicts shows nothing";
  EXPECT_GE(board_.Verdicts({.job = "j1", .include_info = true}).size(), 1);
}

}  // namespace
}  // namespace c4::app
