#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "analyzer/cli/commands.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"

namespace c4::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPhase[] = "{\"phase\":{\"job\":\"j\",\"time\":5,\"name\":\"train\"}}\n";

class AnalyzeTest : public ::testing::Test {
 protected:
  ~AnalyzeTest() override {
    for (const std::string& path : options_.traces) std::remove(path.c_str());
  }
  void AddTrace(const std::string& text) {
    std::string path = fmt::format("{}analyze_{}_{}.jsonl", ::testing::TempDir(), ::getpid(),
                                   options_.traces.size());
    std::ofstream(path) << text;
    options_.traces.push_back(std::move(path));
  }
  int Run() { return RunAnalyze(engine_, options_, output_); }

  api::FakeEngine engine_;
  AnalyzeOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
  Output output_{.out = &out_, .err = &err_, .color = false, .width = 0, .now = [] { return 0L; }};
};

TEST_F(AnalyzeTest, DrivesTheEngineAsTheTraceSays) {
  AddTrace(std::string(kPhase) + "{\"clock\":{\"time\":6}}\n" + kPhase +
           "{\"clock\":{\"time\":7}}\n");
  EXPECT_EQ(Run(), 0);
  const std::string phase = R"({"phase":{"job":"j","time":5,"name":"train"}})";
  EXPECT_THAT(engine_.said(),
              ElementsAre(phase, R"({"clock":{"time":6}})", phase, R"({"clock":{"time":7}})"));
  EXPECT_EQ(err_.str(), "No verdicts found.\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(AnalyzeTest, WithoutAClockAtTheEndItIsJudgedAtTheLatestTime) {
  AddTrace(std::string("{\"clock\":{\"time\":2}}\n") + kPhase);
  EXPECT_EQ(Run(), 0);
  EXPECT_EQ(engine_.watermark(), 5);
}

TEST_F(AnalyzeTest, SeveralFilesAreOneRecording) {
  AddTrace(kPhase);
  AddTrace("{\"clock\":{\"time\":9}}\n");
  EXPECT_EQ(Run(), 0);
  EXPECT_EQ(engine_.said().size(), 2);
  EXPECT_EQ(engine_.watermark(), 9);
}

TEST_F(AnalyzeTest, PrintsTheLastStateOfEachVerdict) {
  AddTrace(std::string(kPhase) + "{\"clock\":{\"time\":6}}\n{\"clock\":{\"time\":7}}\n");
  model::Verdict verdict = api::SomeVerdict("v1", 5);
  engine_.Plan(6, verdict);
  verdict.status = model::Status::kConfirmed;
  engine_.Plan(7, verdict);
  engine_.Plan(7, api::SomeVerdict("v0", 6, model::Severity::kInfo));
  options_.format = Format::kJson;
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(out_.str(), StartsWith("{\"verdicts\":[\n{\"id\":\"v1\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"confirmed\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"v0\""));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(AnalyzeTest, TheExitCodeTellsAFaultOnRequest) {
  AddTrace(kPhase);
  engine_.Plan(1, api::SomeVerdict("v0", 5, model::Severity::kInfo));
  options_.exit_code = true;
  EXPECT_EQ(Run(), 0);
  engine_.Plan(1, api::SomeVerdict("v1", 5));
  EXPECT_EQ(Run(), 10);
  engine_.Plan(1, api::SomeVerdict("v1", 5));
  options_.exit_code = false;
  EXPECT_EQ(Run(), 0);
}

TEST_F(AnalyzeTest, BadLinesAreNamedAndSkipped) {
  AddTrace(std::string("nonsense\n") + kPhase);
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(err_.str(), StartsWith(options_.traces[0] + ":1: not JSON\n"));
}

TEST_F(AnalyzeTest, ManyBadLinesAreCounted) {
  std::string text = kPhase;
  for (int i = 0; i < 100; ++i) text += "nonsense\n";
  AddTrace(text);
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(err_.str(), HasSubstr("c4ctl: 100 bad lines in all\n"));
  const std::string said = err_.str();
  EXPECT_LT(std::count(said.begin(), said.end(), '\n'), 15);
}

TEST_F(AnalyzeTest, StrictStopsAtABadLine) {
  AddTrace(std::string(kPhase) + "nonsense\n");
  options_.strict = true;
  EXPECT_EQ(Run(), 1);
  EXPECT_EQ(err_.str(), "c4ctl: " + options_.traces[0] + ": line 2: not JSON\n");
}

TEST_F(AnalyzeTest, WhatIsNoTraceIsAnError) {
  AddTrace("hello\nworld\n");
  EXPECT_EQ(Run(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("is this a C4 trace?"));
}

TEST_F(AnalyzeTest, AMissingFileIsAnError) {
  options_.traces = {"/nonexistent.jsonl"};
  EXPECT_EQ(Run(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent.jsonl"));
  options_.traces.clear();
}

}  // namespace
}  // namespace c4::cli
