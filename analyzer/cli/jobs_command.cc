// c4ctl jobs
#include "analyzer/cli/commands.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/cli/table.h"
#include "analyzer/cli/text.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

std::string Count(std::uint64_t count) {
  if (count < 100'000) return fmt::format("{}", count);
  const char* unit = "kMGT";
  auto scaled = static_cast<double>(count) / 1000;
  for (; scaled >= 1000 && unit[1] != '\0'; ++unit) scaled /= 1000;
  return fmt::format("{:.1f}{}", scaled, *unit);
}

// "7/8" while not all have been seen.
std::string Ranks(const v1::Job& job) {
  return job.world_size() > 0 ? fmt::format("{}/{}", job.ranks(), job.world_size())
                              : fmt::format("{}", job.ranks());
}

std::string Step(double seconds) {
  if (seconds <= 0) return "-";
  return seconds < 1 ? fmt::format("{:.0f}ms", seconds * 1000) : fmt::format("{:.2f}s", seconds);
}

Cell State(const v1::Job& job) {
  const Color color = job.state() == "stalled"   ? Color::kRed
                      : job.state() == "running" ? Color::kGreen
                                                 : Color::kNone;
  return {Printable(job.state()), color};
}

}  // namespace

int RunJobs(Client& client, Format format, bool headers, const Output& output) {
  const auto jobs = client.Jobs();
  if (!jobs.ok()) return Fail(jobs.status(), output);
  if (format == Format::kJson) {
    *output.out << JobsJson(*jobs);
    return kExitOk;
  }
  if (format == Format::kName) {
    for (const v1::Job& job : *jobs) *output.out << Printable(job.name()) << '\n';
    return kExitOk;
  }
  if (jobs->empty()) {
    *output.err << "No jobs found.\n";
    return kExitOk;
  }
  const bool wide = format == Format::kWide;
  std::vector<Column> columns = {{"JOB", 12},     {"STATE"}, {"RANKS"},    {"NODES"}, {"STEP"},
                                 {"COLLECTIVES"}, {"LOST"},  {"VERDICTS"}, {"AGE"}};
  if (wide) {
    columns.insert(columns.end(), {{"RESTARTS"}, {"COMMUNICATORS"}, {"STEPS"}, {"PROGRESS"}});
  }
  Table table(std::move(columns));
  for (const v1::Job& job : *jobs) {
    std::vector<Cell> row = {{Printable(job.name())},
                             State(job),
                             {Ranks(job)},
                             {fmt::format("{}", job.nodes())},
                             {Step(job.step_seconds())},
                             {Count(job.collectives())},
                             {Count(job.lost()), job.lost() > 0 ? Color::kYellow : Color::kNone},
                             {fmt::format("{}", job.verdicts_open()),
                              job.verdicts_open() > 0 ? Color::kRed : Color::kNone},
                             {Age(output.now() - job.first_seen())}};
    if (wide) {
      row.insert(row.end(), {Cell{fmt::format("{}", job.incarnation())},
                             Cell{fmt::format("{}", job.communicators())}, Cell{Count(job.steps())},
                             Cell{Age(output.now() - job.last_progress()) + " ago"}});
    }
    table.Add(std::move(row));
  }
  *output.out << table.Render(output, headers);
  return kExitOk;
}

}  // namespace c4::cli
