// c4ctl analyze: the live engine over a recorded trace, with no cluster at all.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/api/verdict_proto.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/cli/verdict_table.h"
#include "analyzer/ingest/trace_reader.h"
#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

// A file of another kind has a bad line for every line; the first few tell the story.
constexpr std::uint64_t kBadLinesShown = 10;

class Analysis {
 public:
  Analysis(api::EnginePort& engine, const AnalyzeOptions& options, const Output& output)
      : engine_(engine), options_(options), output_(output) {}

  absl::Status Read(const std::string& path) {
    C4_ASSIGN_OR_RETURN(const auto source, ingest::OpenTrace(path));
    const absl::Status status = ingest::ReadTrace(
        *source, {.strict = options_.strict},
        {.record = [&](const model::Record& record) { engine_.Apply(record); },
         .watermark = [&](model::TimeNs time) { Advance(time); },
         .bad_line =
             [&](std::uint64_t line, const absl::Status& why) {
               if (stats_.bad_lines > kBadLinesShown) return;
               *output_.err << fmt::format("{}:{}: {}\n", path, line, ToStd(why.message()));
             }},
        stats_);
    if (status.ok()) return status;
    if (status.code() == absl::StatusCode::kDataLoss && !options_.strict) {
      // The end is missing; what is there is judged.
      *output_.err << "c4ctl: " << ToStd(status.message()) << '\n';
      return absl::OkStatus();
    }
    return {status.code(), ToStd(status.message()).starts_with("line ")
                               ? fmt::format("{}: {}", path, ToStd(status.message()))
                               : std::string(status.message())};
  }

  absl::Status Finish() {
    if (stats_.bad_lines > kBadLinesShown) {
      *output_.err << fmt::format("c4ctl: {} bad lines in all\n", stats_.bad_lines);
    }
    if (stats_.records == 0) return absl::InvalidArgumentError("no records: is this a C4 trace?");
    // A recording ends with what the live run had judged; any other trace is judged at its end.
    if (!stats_.ends_with_watermark) Advance(stats_.latest_time);
    return absl::OkStatus();
  }

  // By onset.
  std::vector<v1::Verdict> Verdicts() const {
    std::vector<v1::Verdict> verdicts;
    for (const auto& [id, verdict] : verdicts_) verdicts.push_back(verdict);
    std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) {
      return std::make_tuple(a.onset(), a.detected(), a.id()) <
             std::make_tuple(b.onset(), b.detected(), b.id());
    });
    return verdicts;
  }

 private:
  void Advance(model::TimeNs watermark) {
    for (const model::Verdict& verdict : engine_.Advance(watermark)) {
      verdicts_[verdict.id] = api::ToProto(verdict);
    }
  }

  api::EnginePort& engine_;
  const AnalyzeOptions& options_;
  const Output& output_;
  ingest::TraceStats stats_;
  std::map<std::string, v1::Verdict> verdicts_;  // as they stand last
};

}  // namespace

int RunAnalyze(api::EnginePort& engine, const AnalyzeOptions& options, const Output& output) {
  Analysis analysis(engine, options, output);
  for (const std::string& path : options.traces) {
    if (const absl::Status status = analysis.Read(path); !status.ok()) return Fail(status, output);
  }
  if (const absl::Status status = analysis.Finish(); !status.ok()) return Fail(status, output);

  const std::vector<v1::Verdict> verdicts = analysis.Verdicts();
  if (options.format == Format::kJson) {
    *output.out << VerdictsJson(verdicts);
  } else if (verdicts.empty()) {
    *output.err << "No verdicts found.\n";
  } else {
    const bool wide = options.format == Format::kWide;
    Table table = VerdictTable(wide, When::kOnset);
    for (const v1::Verdict& verdict : verdicts) {
      AddVerdict(table, verdict, wide, When::kOnset, output);
    }
    *output.out << table.Render(output);
    if (verdicts.size() == 1 && !wide) {
      *output.out << '\n' << DescribeVerdict(verdicts[0], output);
    }
  }
  const bool fault = std::any_of(verdicts.begin(), verdicts.end(),
                                 [](const auto& verdict) { return verdict.severity() == "fault"; });
  return options.exit_code && fault ? kExitFault : kExitOk;
}

}  // namespace c4::cli
