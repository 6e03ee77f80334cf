#include "analyzer/ingest/trace_recorder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/ingest/trace_json.h"
#include "analyzer/ingest/trace_reader.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/ingest/records.h"

namespace c4::ingest {
namespace {

class TraceRecorderTest : public ::testing::Test {
 protected:
  TraceRecorderTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   fmt::format("recorder_{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
  }
  ~TraceRecorderTest() override { std::filesystem::remove_all(directory_); }
  std::string Path(const std::string& name) const { return directory_ / name; }
  static std::string Content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  const std::filesystem::path directory_;
};

TEST_F(TraceRecorderTest, WhatIsWrittenReadsTheSame) {
  const std::string path = Path("run.jsonl");
  const std::vector<model::Record> records = EveryRecord();
  {
    auto recorder = TraceRecorder::Open(path);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    for (const model::Record& record : records) (*recorder)->Write(record);
    (*recorder)->WriteWatermark(kNow);
  }
  std::vector<std::string> read;
  TraceStats stats;
  const auto source = OpenTrace(path);
  ASSERT_TRUE(ReadTrace(**source, {.strict = true},
                        {.record = [&](const auto& r) { read.push_back(FormatTraceLine(r)); },
                         .watermark = {},
                         .bad_line = {}},
                        stats)
                  .ok());
  std::vector<std::string> written;
  for (const model::Record& record : records) written.push_back(FormatTraceLine(record));
  EXPECT_EQ(read, written);
  EXPECT_EQ(stats.last_watermark, kNow);
}

TEST_F(TraceRecorderTest, EachWatermarkIsOutAtOnce) {
  const std::string path = Path("run.jsonl");
  const auto recorder = TraceRecorder::Open(path);
  (*recorder)->Write(model::PhaseRecord{"j", 5, "train"});
  EXPECT_EQ(Content(path), "");
  (*recorder)->WriteWatermark(6);
  EXPECT_THAT(Content(path), ::testing::EndsWith("{\"clock\":{\"time\":6}}\n"));
}

TEST_F(TraceRecorderTest, EndsWithAWatermarkThatWasJudged) {
  const std::string path = Path("run.jsonl");
  {
    const auto recorder = TraceRecorder::Open(path);
    (*recorder)->WriteWatermark(6);
    (*recorder)->Write(model::PhaseRecord{"j", 9, "train"});
  }
  EXPECT_EQ(Content(path),
            "{\"c4_trace\":1}\n"
            "{\"clock\":{\"time\":6}}\n"
            "{\"phase\":{\"job\":\"j\",\"time\":9,\"name\":\"train\"}}\n"
            "{\"clock\":{\"time\":6}}\n");
}

TEST_F(TraceRecorderTest, AnEarlierRecordingIsKept) {
  const std::string path = Path("run.jsonl");
  for (const model::TimeNs time : {1, 2, 3}) {
    const auto recorder = TraceRecorder::Open(path);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    (*recorder)->WriteWatermark(time);
  }
  EXPECT_THAT(Content(path + ".1"), ::testing::HasSubstr("\"time\":1"));
  EXPECT_THAT(Content(path + ".2"), ::testing::HasSubstr("\"time\":2"));
  EXPECT_THAT(Content(path), ::testing::HasSubstr("\"time\":3"));
}

TEST_F(TraceRecorderTest, AFullDiskCostsTheRecordingOnly) {
  const auto recorder = TraceRecorder::Open("/dev/full");
  ASSERT_TRUE(recorder.ok());
  (*recorder)->WriteWatermark(6);
  EXPECT_FALSE((*recorder)->status().ok());
  EXPECT_EQ((*recorder)->lost_lines(), 2);
  (*recorder)->WriteWatermark(7);
  EXPECT_EQ((*recorder)->lost_lines(), 3);
}

TEST_F(TraceRecorderTest, AFileThatCannotBeWrittenIsNamed) {
  EXPECT_THAT(std::string(TraceRecorder::Open("/nonexistent/run.jsonl").status().message()),
              ::testing::HasSubstr("/nonexistent/run.jsonl"));
}

}  // namespace
}  // namespace c4::ingest
