// c4ctl status
#include <algorithm>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/json_output.h"
#include "analyzer/cli/table.h"
#include "analyzer/cli/text.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

std::string Behind(std::int64_t time, const Output& output) {
  if (time == 0) return "-";
  const double seconds = static_cast<double>(output.now() - time) / 1e9;
  return seconds < 120 ? fmt::format("{:.1f}s", seconds) : Age(output.now() - time);
}

}  // namespace

int RunStatus(Client& client, Format format, const Output& output) {
  const auto status = client.Status();
  if (!status.ok()) return Fail(status.status(), output);
  if (format == Format::kJson) {
    *output.out << Json(*status) << '\n';
    return kExitOk;
  }
  const auto connected =
      std::count_if(status->agents().begin(), status->agents().end(),
                    [](const v1::AgentStatus& agent) { return agent.connected(); });
  const auto field = [&](const char* name, const std::string& value) {
    *output.out << fmt::format("{:<11}{}\n", name, value);
  };
  field("Server", client.server());
  field("Version", Printable(status->version()));
  field("Instance", Printable(status->analyzer_instance()));
  field("Watermark", status->watermark() == 0
                         ? "none yet"
                         : fmt::format("{} UTC ({} ago)", Timestamp(status->watermark()),
                                       Behind(status->watermark(), output)));
  field("Agents", fmt::format("{} of {} connected", connected, status->agents_size()));
  if (status->agents().empty()) return kExitOk;

  Table table({{"NODE", 12},
               {"CONNECTED"},
               {"BEHIND"},
               {"BATCHES"},
               {"RECORDS"},
               {"REJECTED"},
               {"VERSION"}});
  for (const v1::AgentStatus& agent : status->agents()) {
    const Color rejected = agent.rejected_records() > 0 ? Color::kYellow : Color::kNone;
    table.Add({{Printable(agent.node())},
               {agent.connected() ? "yes" : "no", agent.connected() ? Color::kNone : Color::kRed},
               {Behind(agent.complete_until(), output)},
               {fmt::format("{}", agent.batches())},
               {fmt::format("{}", agent.records())},
               {fmt::format("{}", agent.rejected_records()), rejected},
               {Printable(agent.version())}});
  }
  *output.out << '\n' << table.Render(output);
  return kExitOk;
}

}  // namespace c4::cli
