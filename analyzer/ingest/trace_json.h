// One line of a trace (docs/TRACE_FORMAT.md) to and from a record. Pure functions over text: no
// file, no clock, no state. Every line is untrusted.
//
// What is not part of the format but looks like it (unknown keys, unknown kinds of lines) is
// ignored, so that traces of newer versions and of the case collection can be read.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

// {"clock":{"time":…}}: every fact up to here has been given.
struct Watermark {
  model::TimeNs time = 0;
};

// {"c4_trace":1}
struct TraceVersion {
  int version = 0;
};

// A well-formed object of a kind that this version does not know.
struct UnknownLine {
  std::string kind;
};

using TraceLine = std::variant<model::Record, Watermark, TraceVersion, UnknownLine>;

inline constexpr int kTraceVersion = 1;

// Errors name the key and what is wrong with it ("op.rank: missing"). `line` is without its
// newline.
absl::StatusOr<TraceLine> ParseTraceLine(std::string_view line);

// The inverse, without a newline. Optional keys are written only when they say something. For every
// record that Normalize() accepts, ParseTraceLine(FormatTraceLine(r)) gives r.
std::string FormatTraceLine(const model::Record& record);
std::string FormatTraceLine(Watermark watermark);
std::string FormatTraceLine(TraceVersion version);
// A word to people who read the file ({"note":{"text":…}}); programs skip it.
std::string FormatNoteLine(std::string_view text);

// The latest time that the record mentions; 0 for records without a time.
model::TimeNs LatestTime(const model::Record& record);

}  // namespace c4::ingest
