// A line of a trace from a stranger: never crashes, and what is accepted survives writing and
// reading.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/ingest/trace_json.h"
#include "analyzer/ingest/trace_reader.h"
#include "common/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace c4;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = ingest::ParseTraceLine(text);
  if (line.ok()) {
    if (const auto* record = std::get_if<model::Record>(&*line)) {
      const std::string written = ingest::FormatTraceLine(*record);
      const auto again = ingest::ParseTraceLine(written);
      C4_CHECK(again.ok());
      C4_CHECK(ingest::FormatTraceLine(std::get<model::Record>(*again)) == written);
    }
  }
  // The same bytes as a file, with a line limit that is easily reached.
  ingest::StringSource source{std::string(text)};
  ingest::TraceStats stats;
  ingest::ReadTrace(source, {.strict = false, .line_bytes_max = 4096}, {}, stats).IgnoreError();
  C4_CHECK(stats.records + stats.watermarks + stats.bad_lines + stats.unknown_lines <= stats.lines);
  return 0;
}
