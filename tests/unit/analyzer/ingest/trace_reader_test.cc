#include "analyzer/ingest/trace_reader.h"

#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a reader said, in order: r = record, w<time> = watermark, !<line> = bad line.
struct Transcript {
  std::vector<std::string> said;
  TraceStats stats;
  TraceSink Sink() {
    return {[this](const model::Record&) { said.push_back("r"); },
            [this](model::TimeNs time) { said.push_back(fmt::format("w{}", time)); },
            [this](std::uint64_t line, const absl::Status&) {
              said.push_back(fmt::format("!{}", line));
            }};
  }
};

constexpr char kTrace[] =
    "{\"c4_trace\":1}\n"
    "{\"phase\":{\"job\":\"j\",\"time\":5,\"name\":\"train\"}}\n"
    "{\"clock\":{\"time\":6}}\n"
    "nonsense\n"
    "\n"
    "{\"weather\":1}\r\n"
    "{\"phase\":{\"job\":\"j\",\"time\":9,\"name\":\"eval\"}}\n"
    "{\"clock\":{\"time\":7}}";  // no newline at the end

TEST(TraceReader, GivesLinesInOrderAndSkipsBadOnes) {
  StringSource source(kTrace);
  Transcript transcript;
  ASSERT_TRUE(ReadTrace(source, {}, transcript.Sink(), transcript.stats).ok());
  EXPECT_THAT(transcript.said, ElementsAre("r", "w6", "!4", "r", "w7"));
  EXPECT_EQ(transcript.stats.lines, 8);
  EXPECT_EQ(transcript.stats.records, 2);
  EXPECT_EQ(transcript.stats.bad_lines, 1);
  EXPECT_EQ(transcript.stats.unknown_lines, 1);
  EXPECT_EQ(transcript.stats.latest_time, 9);
  EXPECT_EQ(transcript.stats.last_watermark, 7);
}

TEST(TraceReader, StrictStopsAtTheLine) {
  StringSource source(kTrace);
  Transcript transcript;
  const absl::Status status =
      ReadTrace(source, {.strict = true}, transcript.Sink(), transcript.stats);
  EXPECT_EQ(status.message(), "line 4: not JSON");
  EXPECT_THAT(transcript.said, ElementsAre("r", "w6"));
}

TEST(TraceReader, ALineThatIsTooLongCostsItself) {
  StringSource source(std::string(500, 'x') + "\n{\"clock\":{\"time\":6}}\n" +
                      std::string(200'000, 'y'));
  Transcript transcript;
  ASSERT_TRUE(ReadTrace(source, {.line_bytes_max = 100}, transcript.Sink(), transcript.stats).ok());
  EXPECT_THAT(transcript.said, ElementsAre("!1", "w6", "!3"));
}

TEST(TraceReader, ANewerVersionIsNotGuessed) {
  StringSource source("{\"c4_trace\":2}\n");
  Transcript transcript;
  EXPECT_THAT(std::string(ReadTrace(source, {}, transcript.Sink(), transcript.stats).message()),
              HasSubstr("trace version 2, this program reads 1"));
}

class TraceFile : public ::testing::Test {
 protected:
  ~TraceFile() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
  }
  std::string Write(const std::string& suffix, const std::string& bytes) {
    std::string path = ::testing::TempDir() + "trace_" + std::to_string(::getpid()) + suffix;
    std::ofstream(path, std::ios::binary) << bytes;
    paths_.push_back(path);
    return path;
  }
  absl::Status Read(const std::string& path) {
    const auto source = OpenTrace(path);
    if (!source.ok()) return source.status();
    return ReadTrace(**source, {}, transcript_.Sink(), transcript_.stats);
  }
  static std::string Compress(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
  }
  std::vector<std::string> paths_;
  Transcript transcript_;
};

TEST_F(TraceFile, ReadsPlainAndCompressedFiles) {
  EXPECT_TRUE(Read(Write(".jsonl", kTrace)).ok());
  EXPECT_TRUE(Read(Write(".jsonl.zst", Compress(kTrace))).ok());
  EXPECT_EQ(transcript_.stats.records, 4);
}

TEST_F(TraceFile, ACutCompressedFileIsAnErrorWithTheFilesName) {
  const std::string compressed = Compress(kTrace);
  const std::string path = Write("_cut.zst", compressed.substr(0, compressed.size() - 4));
  const absl::Status status = Read(path);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST_F(TraceFile, GarbageThatClaimsToBeCompressedIsAnError) {
  EXPECT_EQ(Read(Write("_bad.zst", "not zstd at all")).code(), absl::StatusCode::kDataLoss);
}

TEST_F(TraceFile, AMissingFileIsNamed) {
  EXPECT_THAT(std::string(Read("/nonexistent/trace.jsonl").message()),
              HasSubstr("/nonexistent/trace.jsonl"));
}

}  // namespace
}  // namespace c4::ingest
