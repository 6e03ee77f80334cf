// c4ctl verdicts
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/cli/text.h"
#include "analyzer/cli/verdict_table.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

int DescribeOne(const std::vector<v1::Verdict>& verdicts, const VerdictsOptions& options,
                const Output& output) {
  std::vector<const v1::Verdict*> matching;
  for (const v1::Verdict& verdict : verdicts) {
    if (verdict.id() == options.id) {
      matching = {&verdict};
      break;
    }
    if (verdict.id().starts_with(options.id)) matching.push_back(&verdict);
  }
  if (matching.size() != 1) {
    *output.err << fmt::format("c4ctl: {} verdict {}\n",
                               matching.empty() ? "there is no" : "more than one", options.id);
    return kExitError;
  }
  switch (options.format) {
    case Format::kJson:
      *output.out << Json(*matching[0]) << '\n';
      break;
    case Format::kName:
      *output.out << matching[0]->id() << '\n';
      break;
    default:
      *output.out << DescribeVerdict(*matching[0], output);
  }
  return kExitOk;
}

// Prints rows as they come. The columns are as wide as the first rows were, or a usual row.
class RowPrinter {
 public:
  RowPrinter(const VerdictsOptions& options, const Output& output)
      : options_(options),
        output_(output),
        wide_(options.format == Format::kWide),
        table_(VerdictTable(wide_, When::kAge)),
        heading_(options.headers) {
    table_.FixWidths({12, 10, 22, 18, 9});
  }

  void Print(const v1::Verdict& verdict) {
    if (options_.format == Format::kJson) {
      *output_.out << Json(verdict) << '\n';
    } else if (options_.format == Format::kName) {
      *output_.out << verdict.id() << '\n';
    } else {
      table_.Clear();
      AddVerdict(table_, verdict, wide_, When::kAge, output_);
      *output_.out << table_.Render(output_, std::exchange(heading_, false));
    }
    output_.out->flush();
  }

 private:
  const VerdictsOptions& options_;
  const Output& output_;
  const bool wide_;
  Table table_;
  bool heading_;
};

}  // namespace

int Fail(const absl::Status& status, const Output& output) {
  *output.err << "c4ctl: " << ToStd(status.message()) << '\n';
  return kExitError;
}

int RunVerdicts(Client& client, const VerdictsOptions& options, const Output& output) {
  VerdictQuery query = options.query;
  if (!options.id.empty()) query.include_info = true;
  const auto verdicts = client.Verdicts(query);
  if (!verdicts.ok()) return Fail(verdicts.status(), output);
  if (!options.id.empty()) return DescribeOne(*verdicts, options, output);
  if (options.format == Format::kJson) {
    *output.out << VerdictsJson(*verdicts);
    return kExitOk;
  }
  if (options.format == Format::kName) {
    for (const v1::Verdict& verdict : *verdicts) *output.out << verdict.id() << '\n';
    return kExitOk;
  }
  if (verdicts->empty()) {
    *output.err << "No verdicts found.\n";
    return kExitOk;
  }
  const bool wide = options.format == Format::kWide;
  Table table = VerdictTable(wide, When::kAge);
  for (const v1::Verdict& verdict : *verdicts) {
    AddVerdict(table, verdict, wide, When::kAge, output);
  }
  *output.out << table.Render(output, options.headers);
  return kExitOk;
}

int RunWatch(Client& client, const VerdictsOptions& options, const WatchOptions& watch,
             const Output& output) {
  RowPrinter printer(options, output);
  // As last printed: after a reconnect the analyzer tells the present state again. Bounded by what
  // the analyzer shows.
  std::map<std::string, std::string> printed;
  bool complained = false;
  while (true) {
    const absl::Status status = client.Watch(
        options.query, [&] { complained = false; },
        [&](const v1::Verdict& verdict) {
          std::string bytes = verdict.SerializeAsString();
          std::string& last = printed[verdict.id()];
          if (last == bytes) return true;
          last = std::move(bytes);
          printer.Print(verdict);
          return watch.go_on();
        });
    if (status.ok()) return kExitOk;
    if (status.code() == absl::StatusCode::kUnimplemented) return Fail(status, output);
    // Once per outage, not once per attempt.
    if (!std::exchange(complained, true)) {
      *output.err << "c4ctl: " << ToStd(status.message()) << "\nc4ctl: trying again …\n";
      output.err->flush();
    }
    if (!watch.pause()) return kExitError;
  }
}

}  // namespace c4::cli
