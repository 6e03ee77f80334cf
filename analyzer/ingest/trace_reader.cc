#include "analyzer/ingest/trace_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ingest/trace_json.h"
#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

class Reader {
 public:
  Reader(const TraceOptions& options, const TraceSink& sink, TraceStats& stats)
      : options_(options), sink_(sink), stats_(stats) {}

  absl::Status Read(ByteSource& source) {
    std::vector<char> buffer(std::size_t{1} << 16);
    while (true) {
      C4_ASSIGN_OR_RETURN(const std::size_t count, source.Read(buffer));
      if (count == 0) break;
      C4_RETURN_IF_ERROR(Take({buffer.data(), count}));
    }
    // The last line may lack its newline: the recorder was killed. If it is cut, it does not parse.
    return line_.empty() && !too_long_ ? absl::OkStatus() : EndLine();
  }

 private:
  absl::Status Take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      const std::string_view part = bytes.substr(0, newline);
      if (line_.size() + part.size() > options_.line_bytes_max) too_long_ = true;
      if (!too_long_) line_ += part;
      if (newline == std::string_view::npos) break;
      bytes.remove_prefix(newline + 1);
      C4_RETURN_IF_ERROR(EndLine());
    }
    return absl::OkStatus();
  }

  absl::Status EndLine() {
    ++number_;
    ++stats_.lines;
    absl::Status status;
    if (too_long_) {
      status = absl::ResourceExhaustedError(
          fmt::format("longer than {} bytes", options_.line_bytes_max));
    } else {
      if (line_.ends_with('\r')) line_.pop_back();
      if (!line_.empty()) status = OneLine();
    }
    line_.clear();
    too_long_ = false;
    if (status.ok()) return status;
    const absl::Status named(status.code(),
                             fmt::format("line {}: {}", number_, ToStd(status.message())));
    // A newer version may mean something else by the same words.
    if (status.code() == absl::StatusCode::kUnimplemented) return named;
    ++stats_.bad_lines;
    if (options_.strict) return named;
    if (sink_.bad_line) sink_.bad_line(number_, status);
    return absl::OkStatus();
  }

  absl::Status OneLine() {
    C4_ASSIGN_OR_RETURN(const TraceLine line, ParseTraceLine(line_));
    if (const auto* record = std::get_if<model::Record>(&line)) {
      ++stats_.records;
      stats_.ends_with_watermark = false;
      stats_.latest_time = std::max(stats_.latest_time, LatestTime(*record));
      if (sink_.record) sink_.record(*record);
    } else if (const auto* watermark = std::get_if<Watermark>(&line)) {
      ++stats_.watermarks;
      stats_.ends_with_watermark = true;
      stats_.latest_time = std::max(stats_.latest_time, watermark->time);
      stats_.last_watermark = std::max(stats_.last_watermark, watermark->time);
      if (sink_.watermark) sink_.watermark(watermark->time);
    } else if (const auto* version = std::get_if<TraceVersion>(&line)) {
      if (version->version > kTraceVersion) {
        return absl::UnimplementedError(fmt::format("trace version {}, this program reads {}",
                                                    version->version, kTraceVersion));
      }
    } else {
      ++stats_.unknown_lines;
    }
    return absl::OkStatus();
  }

  const TraceOptions& options_;
  const TraceSink& sink_;
  TraceStats& stats_;
  std::string line_;
  bool too_long_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace

absl::Status ReadTrace(ByteSource& source, const TraceOptions& options, const TraceSink& sink,
                       TraceStats& stats) {
  return Reader(options, sink, stats).Read(source);
}

}  // namespace c4::ingest
