// The subcommands of c4ctl, apart from reading their flags. Each returns the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "analyzer/api/engine_port.h"
#include "analyzer/cli/client.h"
#include "analyzer/cli/output.h"

namespace c4::cli {

struct VerdictsOptions {
  VerdictQuery query;
  std::string id;  // or an unambiguous beginning; empty: all
  Format format = Format::kTable;
  bool headers = true;
};

struct WatchOptions {
  // Waits before the next attempt; false ends the watch. Injected: tests do not wait.
  std::function<bool()> pause;
  // After each verdict that was printed; false ends the watch.
  std::function<bool()> go_on = [] { return true; };
};

struct AnalyzeOptions {
  std::vector<std::string> traces;
  Format format = Format::kTable;
  bool strict = false;
  bool exit_code = false;
};

struct RecordOptions {
  std::string job;  // empty: all
  std::string file = "-";
  bool overwrite = false;
  absl::Duration duration = absl::InfiniteDuration();
  int stop_fd = -1;  // readable: end the recording
};

int RunVerdicts(Client& client, const VerdictsOptions& options, const Output& output);
int RunWatch(Client& client, const VerdictsOptions& options, const WatchOptions& watch,
             const Output& output);
int RunJobs(Client& client, Format format, bool headers, const Output& output);
int RunStatus(Client& client, Format format, const Output& output);
int RunRecord(Client& client, const RecordOptions& options, const Output& output);
int RunAnalyze(api::EnginePort& engine, const AnalyzeOptions& options, const Output& output);

// "bash", "zsh" or "fish".
int RunCompletion(const std::string& shell, const Output& output);

// "c4ctl: …" on err.
int Fail(const absl::Status& status, const Output& output);

}  // namespace c4::cli
