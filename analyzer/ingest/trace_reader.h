// Reads a trace line by line and hands out what it says, in the order of the file. A bad line costs
// itself: it is named with its number and skipped, unless `strict` stops there.
//
// Knows nothing of engines. Memory: one line of at most kLineBytesMax.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/ingest/byte_source.h"
#include "analyzer/ingest/limits.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

struct TraceOptions {
  bool strict = false;
  std::size_t line_bytes_max = limits::kLineBytesMax;
};

// Any of them may be empty.
struct TraceSink {
  std::function<void(const model::Record&)> record;
  std::function<void(model::TimeNs)> watermark;
  std::function<void(std::uint64_t line, const absl::Status& why)> bad_line;
};

struct TraceStats {
  std::uint64_t lines = 0;
  std::uint64_t records = 0;
  std::uint64_t watermarks = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t unknown_lines = 0;  // kinds of a newer version
  model::TimeNs latest_time = 0;    // of any record or watermark
  model::TimeNs last_watermark = 0;
  bool ends_with_watermark = false;  // no record after the last watermark
};

// Adds to `stats`, so that the parts of one recording can be read one after the other; line numbers
// start at 1 in each. Errors: the source fails, a version that cannot be read, or a bad line when
// strict ("line 7: op.rank: missing").
absl::Status ReadTrace(ByteSource& source, const TraceOptions& options, const TraceSink& sink,
                       TraceStats& stats);

}  // namespace c4::ingest
