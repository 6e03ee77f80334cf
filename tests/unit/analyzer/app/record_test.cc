// c4ctl record against a whole analyzer in this process: what it wrote, analysed, gives the
// verdicts that the analyzer gave.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "analyzer/api/real_engine.h"
#include "analyzer/app/service.h"
#include "analyzer/cli/cli.h"
#include "analyzer/cli/client.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/ingest/trace_reader.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/app/small_job.h"

namespace c4::app {
namespace {

using model::kMillisecond;
using model::kSecond;
using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);

// c4ctl in a thread of its own, as its user sees it.
class Ctl {
 public:
  explicit Ctl(std::vector<std::string> arguments) : stop_(::eventfd(0, EFD_CLOEXEC)) {
    arguments.insert(arguments.begin(), "c4ctl");
    thread_ = std::thread([this, arguments] {
      std::vector<const char*> argv;
      for (const std::string& argument : arguments) argv.push_back(argument.c_str());
      const cli::CliDependencies dependencies{
          .make_engine = [] { return std::make_unique<api::RealEngine>(); },
          .pause = {},
          .stop_fd = [this] { return stop_; }};
      const cli::Output output{.out = &out, .err = &err, .now = [] { return 0L; }};
      status_ = cli::RunCli(static_cast<int>(argv.size()), argv.data(), dependencies, output);
    });
  }
  ~Ctl() {
    CtrlC();
    Wait();
    ::close(stop_);
  }
  void CtrlC() { ::eventfd_write(stop_, 1); }
  int Wait() {
    if (thread_.joinable()) thread_.join();
    return status_;
  }

  std::ostringstream out;  // read after Wait()
  std::ostringstream err;

 private:
  const int stop_;
  int status_ = -1;
  std::thread thread_;
};

class RecordTest : public ::testing::Test {
 protected:
  RecordTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   fmt::format("record_{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
    Options options;
    options.listen = "127.0.0.1:0";
    options.store = ":memory:";
    service_ = *Service::Start(options, &clock_, std::make_unique<api::RealEngine>());
    channel_ = grpc::CreateChannel(service_->address(), grpc::InsecureChannelCredentials());
    job_.emplace(clock_.RealtimeNs() + 4 * kSecond);
    for (int node = 0; node < SmallJob::kNodes; ++node) {
      agents_.push_back(std::make_unique<api::TestAgent>(channel_, NodeName(node)));
      EXPECT_EQ(agents_.back()->Connect(), 1);
    }
  }
  ~RecordTest() override {
    agents_.clear();
    service_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::string Path(const std::string& name) const { return directory_ / name; }
  std::unique_ptr<Ctl> Record(const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"record", "--server", service_->address(), "--file", file});
    auto recording = std::make_unique<Ctl>(more);
    EXPECT_TRUE(Await([&] { return std::filesystem::exists(file); }));
    return recording;
  }
  static bool Await(const std::function<bool()>& condition) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!condition()) {
      if (absl::Now() > deadline) return false;
      absl::SleepFor(absl::Milliseconds(2));
    }
    return true;
  }
  // Both agents report every 200 ms of the job's time.
  void RunJob(model::DurationNs duration) {
    for (model::DurationNs t = 0; t < duration; t += 200 * kMillisecond) {
      clock_.Advance(200 * kMillisecond);
      const model::TimeNs now = clock_.RealtimeNs();
      ++sequence_;
      for (int node = 0; node < SmallJob::kNodes; ++node) {
        ASSERT_TRUE(agents_[node]->SendBatch(job_->Batch(node, sequence_, sent_, now)));
        ASSERT_TRUE(agents_[node]->AwaitAck(sequence_));
      }
      sent_ = now;
    }
  }
  // What the file holds up to now, also of one that is being written.
  static ingest::TraceStats Read(const std::string& path) {
    ingest::TraceStats stats;
    const auto source = ingest::OpenTrace(path);
    if (source.ok()) ingest::ReadTrace(**source, {}, {}, stats).IgnoreError();
    return stats;
  }
  // Until all that the agents have sent is judged and in the file.
  void AwaitCaughtUp(const std::string& path) {
    EXPECT_TRUE(Await([&] { return Read(path).last_watermark == sent_; })) << path;
  }
  std::string LiveJson() {
    cli::Client client(service_->address(), absl::Seconds(30));
    std::vector<v1::Verdict> verdicts = *client.Verdicts({.job = "", .include_info = true});
    std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) {
      return std::make_tuple(a.onset(), a.detected(), a.id()) <
             std::make_tuple(b.onset(), b.detected(), b.id());
    });
    return cli::VerdictsJson(verdicts);
  }
  static std::string AnalysisOf(const std::string& path) {
    Ctl ctl({"analyze", "-o", "json", "--strict", path});
    EXPECT_EQ(ctl.Wait(), 0) << ctl.err.str();
    EXPECT_EQ(ctl.err.str(), "");
    return ctl.out.str();
  }

  const std::filesystem::path directory_;
  ManualClock clock_;
  std::unique_ptr<Service> service_;
  std::shared_ptr<grpc::Channel> channel_;
  std::optional<SmallJob> job_;
  std::vector<std::unique_ptr<api::TestAgent>> agents_;
  std::uint64_t sequence_ = 0;
  model::TimeNs sent_ = 0;
};

TEST_F(RecordTest, TheWholeRunGivesTheLiveVerdictsToTheByte) {
  const auto plain = Record(Path("run.jsonl"));
  const auto packed = Record(Path("run.jsonl.zst"));
  RunJob(60 * kSecond);
  AwaitCaughtUp(Path("run.jsonl"));
  AwaitCaughtUp(Path("run.jsonl.zst"));
  const std::string live = LiveJson();
  ASSERT_THAT(live, HasSubstr("process_failure"));
  for (Ctl* ctl : {plain.get(), packed.get()}) {
    ctl->CtrlC();
    EXPECT_EQ(ctl->Wait(), 0) << ctl->err.str();
    EXPECT_EQ(ctl->out.str(), "");
    EXPECT_THAT(ctl->err.str(), HasSubstr(" records, 2025-06-15 15:06:4"));
    EXPECT_THAT(ctl->err.str(), HasSubstr(" UTC, in " + Path("run.jsonl")));
  }
  EXPECT_EQ(AnalysisOf(Path("run.jsonl")), live);
  EXPECT_EQ(AnalysisOf(Path("run.jsonl.zst")), live);
  EXPECT_LT(std::filesystem::file_size(Path("run.jsonl.zst")) * 4,
            std::filesystem::file_size(Path("run.jsonl")));
  EXPECT_TRUE(Read(Path("run.jsonl")).ends_with_watermark);
}

TEST_F(RecordTest, OneThatBeginsLaterStandsAlone) {
  RunJob(10 * kSecond);
  const std::string path = Path("later.jsonl");
  const auto recording = Record(path, {"--job", "j1"});
  RunJob(50 * kSecond);
  AwaitCaughtUp(path);
  recording->CtrlC();
  EXPECT_EQ(recording->Wait(), 0) << recording->err.str();
  const std::string json = AnalysisOf(path);
  EXPECT_THAT(json, HasSubstr("process_failure"));
  EXPECT_THAT(json, HasSubstr("\"rank\":6"));
}

TEST_F(RecordTest, OfAnotherJobOnlyTheNodesAreInIt) {
  const std::string path = Path("other.jsonl");
  const auto recording = Record(path, {"--job", "other"});
  RunJob(10 * kSecond);
  AwaitCaughtUp(path);
  recording->CtrlC();
  EXPECT_EQ(recording->Wait(), 0);
  EXPECT_EQ(Read(path).records, 0);
  EXPECT_THAT(recording->err.str(), HasSubstr("0 records, "));
}

TEST_F(RecordTest, EndsAfterTheDuration) {
  const auto recording = Record(Path("short.jsonl"), {"--duration", "50ms"});
  EXPECT_EQ(recording->Wait(), 0);
  EXPECT_TRUE(Read(Path("short.jsonl")).ends_with_watermark);
  EXPECT_THAT(recording->err.str(), HasSubstr("no watermark yet"));
}

TEST_F(RecordTest, StandardOutputIsATraceAsWell) {
  Ctl recording({"record", "--server", service_->address(), "--duration", "100ms"});
  EXPECT_EQ(recording.Wait(), 0);
  EXPECT_EQ(recording.out.str(), "{\"c4_trace\":1}\n{\"clock\":{\"time\":0}}\n");
}

TEST_F(RecordTest, AStoppingAnalyzerEndsIt) {
  const std::string path = Path("run.jsonl");
  const auto recording = Record(path);
  RunJob(10 * kSecond);
  agents_.clear();
  service_->Stop();
  EXPECT_EQ(recording->Wait(), 1);
  EXPECT_THAT(recording->err.str(), HasSubstr("the analyzer is stopping"));
  EXPECT_TRUE(Read(path).ends_with_watermark);
  EXPECT_EQ(Read(path).bad_lines, 0);
  EXPECT_THAT(AnalysisOf(path), HasSubstr("verdicts"));
}

TEST_F(RecordTest, NeverWritesOverAnEarlierOne) {
  const std::string path = Path("run.jsonl");
  {
    const auto first = Record(path);
    EXPECT_TRUE(Await([&] { return Read(path).lines > 0; }));
  }
  Ctl again({"record", "--server", service_->address(), "-f", path});
  EXPECT_EQ(again.Wait(), 1);
  EXPECT_THAT(again.err.str(), HasSubstr(path + " is there already; choose another name"));
  Ctl forced({"record", "--server", service_->address(), "-f", path, "--overwrite", "-d", "1ms"});
  EXPECT_EQ(forced.Wait(), 0) << forced.err.str();
}

TEST_F(RecordTest, WhatCannotBeWrittenIsSaid) {
  Ctl full({"record", "--server", service_->address(), "-f", "/dev/full"});
  EXPECT_EQ(full.Wait(), 1);
  EXPECT_THAT(full.err.str(), HasSubstr("cannot write /dev/full"));
}

}  // namespace
}  // namespace c4::app
