// A recording of a live run, analysed afterwards, gives the verdicts of the live run: the same
// ones, in the same order, to the bit, also when the network would have mixed it up. With the real
// engine, on a small training job that loses a rank.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/api/owner.h"
#include "analyzer/api/real_engine.h"
#include "analyzer/api/verdict_proto.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/ingest/trace_reader.h"
#include "analyzer/store/sqlite_store.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_link.h"
#include "tests/unit/analyzer/app/shuffled_trace.h"
#include "tests/unit/analyzer/app/small_job.h"

namespace c4::app {
namespace {

using model::kMillisecond;
using model::kSecond;
using ::testing::HasSubstr;

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
    SmallJob job(clock_.RealtimeNs() + 4 * kSecond);
    std::mt19937 random(7);
    std::vector<std::shared_ptr<api::FakeLink>> links;
    std::vector<model::TimeNs> sent(SmallJob::kNodes, 0);
    std::vector<std::uint64_t> sequence(SmallJob::kNodes, 0);
    for (int node = 0; node < SmallJob::kNodes; ++node) {
      links.push_back(std::make_shared<api::FakeLink>());
      owner.Take(
          {links.back(), NodeName(node), clock_.MonotonicNs(), api::AgentHello{"1.2.3", "i1"}});
    }
    for (int tick = 0; tick < 600; ++tick) {
      clock_.Advance(100 * kMillisecond);
      for (int node = 0; node < SmallJob::kNodes; ++node) {
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

  // What c4ctl verdicts would have said, in the order of c4ctl analyze.
  std::string LiveJson() const {
    std::vector<v1::Verdict> verdicts;
    for (const api::SharedVerdict& verdict : board_.Verdicts({.job = "", .include_info = true})) {
      verdicts.push_back(*verdict);
    }
    std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) {
      return std::make_tuple(a.onset(), a.detected(), a.id()) <
             std::make_tuple(b.onset(), b.detected(), b.id());
    });
    return cli::VerdictsJson(verdicts);
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::string AnalysisOf(const std::vector<std::string>& lines) const {
    const std::string path = path_ + ".again";
    {
      std::ofstream file(path);
      for (const std::string& line : lines) file << line << '\n';
    }
    api::RealEngine engine;
    std::ostringstream out;
    std::ostringstream err;
    cli::AnalyzeOptions options;
    options.traces = {path};
    options.format = cli::Format::kJson;
    options.strict = true;
    EXPECT_EQ(
        cli::RunAnalyze(engine, options, {.out = &out, .err = &err, .now = [] { return 0L; }}), 0)
        << err.str();
    std::filesystem::remove(path);
    return out.str();
  }

  const std::string path_;
  ManualClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  api::Board board_;
  ListeningEngine live_;
  ListeningEngine replayed_;
};

TEST_F(ReplayTest, AnyOrderAndAnyRepetitionGivesTheSameJson) {
  RunLive();
  const std::string live = LiveJson();
  ASSERT_THAT(live, HasSubstr("process_failure"));
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(AnalysisOf(lines), live) << "as it was recorded";
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const std::vector<std::string> shuffled = TraceShuffler(seed).Shuffle(lines);
    ASSERT_GT(shuffled.size(), lines.size());
    EXPECT_EQ(AnalysisOf(shuffled), live) << "seed " << seed;
  }
}

TEST_F(ReplayTest, GivesTheVerdictsOfTheLiveRun) {
  RunLive();
  Replay();
  EXPECT_EQ(replayed_.said, live_.said);
  ASSERT_FALSE(live_.said.empty()) << "a test without verdicts shows nothing";
  EXPECT_GE(board_.Verdicts({.job = "j1", .include_info = true}).size(), 1);
}

}  // namespace
}  // namespace c4::app
