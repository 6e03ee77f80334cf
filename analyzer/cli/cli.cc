#include "analyzer/cli/cli.h"

#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"
#include "analyzer/cli/commands.h"
#include "common/version.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  c4ctl verdicts                      what is wrong now and what was\n"
    "  c4ctl verdicts 3f9a                 everything about one, by the beginning of its id\n"
    "  c4ctl verdicts --watch              stay, and print each change\n"
    "  c4ctl verdicts -o json | jq .       for programs\n"
    "  c4ctl jobs                          the jobs that are watched\n"
    "  c4ctl record -f run.jsonl.zst       record what the analyzer is given, until Ctrl-C\n"
    "  c4ctl analyze run.jsonl.zst         find faults in a recording, with no cluster\n"
    "  source <(c4ctl completion bash)\n"
    "\n"
    "Exit status: 0 it worked, 1 it did not, 2 usage.";

constexpr char kVerdictsFooter[] =
    "Without ID: one row per verdict, newest first. With ID, or enough of its beginning: its four\n"
    "moments, suspects, evidence, and what weakens it.\n"
    "\n"
    "Examples:\n"
    "  c4ctl verdicts --job llama -o wide\n"
    "  c4ctl verdicts --all                verdicts of severity info as well\n"
    "  c4ctl verdicts -w -o json           one JSON object per line, for ever";

constexpr char kRecordFooter[] =
    "Writes what the analyzer is given from now on, and first which jobs, ranks and communicators\n"
    "there are, as a trace that c4ctl analyze reads. Ctrl-C or --duration ends it; a line on\n"
    "standard error says what is in it. With --job, what belongs to other jobs is left out and\n"
    "what the nodes report stays in.\n"
    "\n"
    "Exit status: 0 it was ended by Ctrl-C or --duration, 1 by anything else, 2 usage. Whatever "
    "the\n"
    "end, what was written can be analysed up to its last watermark.\n"
    "\n"
    "Examples:\n"
    "  c4ctl record -f run.jsonl.zst                      compressed, until Ctrl-C\n"
    "  c4ctl record --job llama --duration 10m -f llama.jsonl\n"
    "  c4ctl record --duration 1m | c4ctl analyze -       what would be found in this minute";

constexpr char kAnalyzeFooter[] =
    "Runs the same engine as the analyzer. Several files are the parts of one recording, oldest "
    "first;\n"
    "\"-\" is standard input, .zst is decompressed. A recording (c4ctl record, c4-analyzer "
    "--record)\n"
    "of the whole run gives the verdicts of the live run.\n"
    "\n"
    "Exit status: 0 it ran, 1 it could not, 2 usage; with --exit-code 10 when there is a fault.\n"
    "\n"
    "Examples:\n"
    "  c4ctl analyze run.jsonl\n"
    "  c4ctl analyze --output json --exit-code run.jsonl.zst";

const std::map<std::string, Format> kFormats = {{"table", Format::kTable},
                                                {"wide", Format::kWide},
                                                {"json", Format::kJson},
                                                {"name", Format::kName}};

constexpr absl::Duration kTimeoutMax = absl::Hours(24);
constexpr absl::Duration kRecordMax = absl::Hours(24 * 365);

struct Arguments {
  std::string server = "127.0.0.1:7400";
  std::string timeout = "10s";
  std::string duration;
  std::string format = "table";
  std::string shell;
  bool watch = false;
  bool no_headers = false;
  VerdictsOptions verdicts;
  AnalyzeOptions analyze;
  RecordOptions record;
};

// "10s", "500ms", "1m"; a bare number is seconds.
absl::Duration ParseTime(const std::string& text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) || absl::ParseDuration(text + "s", &duration)) {
    return duration;
  }
  return absl::ZeroDuration();
}

CLI::Validator IsTime(absl::Duration longest) {
  return {[longest](const std::string& text) -> std::string {
            const absl::Duration time = ParseTime(text);
            if (time > absl::ZeroDuration() && time <= longest) return "";
            return "not a time like 10s or 500ms: " + text;
          },
          ""};
}

void AddFormat(CLI::App* command, Arguments& arguments, const std::vector<std::string>& formats) {
  command->add_option("-o,--output", arguments.format, fmt::format("{}", fmt::join(formats, ", ")))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
}

void AddCommands(CLI::App& app, Arguments& arguments) {
  CLI::App* verdicts = app.add_subcommand("verdicts", "What is wrong, and where");
  verdicts->footer(kVerdictsFooter);
  verdicts->add_option("ID", arguments.verdicts.id, "Show one verdict in full");
  verdicts->add_option("-j,--job", arguments.verdicts.query.job, "Only this job")->type_name("JOB");
  verdicts->add_flag("-A,--all", arguments.verdicts.query.include_info,
                     "Also what is worth saying but no fault (severity info)");
  verdicts->add_flag("-w,--watch", arguments.watch, "Print changes as they come, for ever");
  verdicts->add_flag("--no-headers", arguments.no_headers, "No headings");
  AddFormat(verdicts, arguments, {"table", "wide", "json", "name"});

  CLI::App* jobs = app.add_subcommand("jobs", "The training jobs that are watched");
  jobs->add_flag("--no-headers", arguments.no_headers, "No headings");
  AddFormat(jobs, arguments, {"table", "wide", "json", "name"});

  AddFormat(app.add_subcommand("status", "The analyzer and its agents"), arguments,
            {"table", "json"});

  CLI::App* analyze = app.add_subcommand("analyze", "Find faults in a recorded trace");
  analyze->footer(kAnalyzeFooter);
  analyze->add_option("TRACE", arguments.analyze.traces, "Trace files, or - for standard input")
      ->required();
  analyze->add_flag("--strict", arguments.analyze.strict, "Stop at a bad line");
  analyze->add_flag("--exit-code", arguments.analyze.exit_code, "Exit with 10 on a fault");
  AddFormat(analyze, arguments, {"table", "wide", "json"});

  CLI::App* record = app.add_subcommand("record", "Record what the analyzer is given");
  record->footer(kRecordFooter);
  record->add_option("-j,--job", arguments.record.job, "Only this job")->type_name("JOB");
  record
      ->add_option("-f,--file", arguments.record.file,
                   "Where to; - is standard output, .zst is compressed")
      ->type_name("FILE")
      ->capture_default_str();
  record->add_option("-d,--duration", arguments.duration, "End after this time")
      ->type_name("TIME")
      ->check(IsTime(kRecordMax));
  record->add_flag("--overwrite", arguments.record.overwrite,
                   "Also when the file is there already");

  app.add_subcommand("completion", "Print a completion script")
      ->add_option("SHELL", arguments.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_subcommand("version", "Print the version");
}

int Dispatch(const std::string& command, Arguments& arguments, const CliDependencies& dependencies,
             const Output& output) {
  const Format format = kFormats.at(arguments.format);
  if (command == "version") {
    *output.out << "c4ctl " << kVersion << '\n';
    return kExitOk;
  }
  if (command == "completion") return RunCompletion(arguments.shell, output);
  if (command == "analyze") {
    arguments.analyze.format = format;
    return RunAnalyze(*dependencies.make_engine(), arguments.analyze, output);
  }
  if (command == "record") {
    const absl::StatusOr<int> stop_fd =
        dependencies.stop_fd ? dependencies.stop_fd() : absl::StatusOr<int>(-1);
    if (!stop_fd.ok()) return Fail(stop_fd.status(), output);
    arguments.record.stop_fd = *stop_fd;
    if (!arguments.duration.empty()) arguments.record.duration = ParseTime(arguments.duration);
  }
  Client client(arguments.server, ParseTime(arguments.timeout));
  if (command == "jobs") return RunJobs(client, format, !arguments.no_headers, output);
  if (command == "record") return RunRecord(client, arguments.record, output);
  if (command == "status") return RunStatus(client, format, output);
  arguments.verdicts.format = format;
  arguments.verdicts.headers = !arguments.no_headers;
  if (!arguments.watch) return RunVerdicts(client, arguments.verdicts, output);
  return RunWatch(client, arguments.verdicts, {.pause = dependencies.pause}, output);
}

}  // namespace

int RunCli(int argc, const char* const* argv, const CliDependencies& dependencies,
           const Output& output) {
  Arguments arguments;
  CLI::App app("Asks the C4 analyzer which GPU, NIC or link hurts a training job.", "c4ctl");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("c4ctl ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough();  // --server and --timeout may come after the command
  app.add_option("-s,--server", arguments.server, "Address of the analyzer")
      ->envname("C4_SERVER")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--timeout", arguments.timeout, "How long to wait for an answer")
      ->envname("C4_TIMEOUT")
      ->type_name("TIME")
      ->check(IsTime(kTimeoutMax))
      ->capture_default_str();
  AddCommands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Prints help on `out`, errors on `err`; its own codes are over 100.
    return app.exit(error, *output.out, *output.err) == 0 ? kExitOk : kExitUsage;
  }
  if (arguments.watch && !arguments.verdicts.id.empty()) {
    *output.err << "c4ctl: --watch and an ID do not go together\n";
    return kExitUsage;
  }
  return Dispatch(app.get_subcommands()[0]->get_name(), arguments, dependencies, output);
}

}  // namespace c4::cli
