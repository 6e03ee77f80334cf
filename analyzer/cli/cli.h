// c4ctl from its arguments to its exit status, on streams of the caller's choice.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "analyzer/api/engine_port.h"
#include "analyzer/cli/output.h"

namespace c4::cli {

struct CliDependencies {
  std::function<std::unique_ptr<api::EnginePort>()> make_engine;  // for analyze
  std::function<bool()> pause;                                    // between attempts of --watch
  // For record, before any thread starts: takes over Ctrl-C, which makes the descriptor readable.
  std::function<absl::StatusOr<int>()> stop_fd = {};
};

int RunCli(int argc, const char* const* argv, const CliDependencies& dependencies,
           const Output& output);

}  // namespace c4::cli
