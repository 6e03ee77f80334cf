// c4ctl from its arguments to its exit status, on streams of the caller's choice.
#pragma once

#include <functional>
#include <memory>

#include "analyzer/api/engine_port.h"
#include "analyzer/cli/output.h"

namespace c4::cli {

struct CliDependencies {
  std::function<std::unique_ptr<api::EnginePort>()> make_engine;  // for analyze
  std::function<bool()> pause;                                    // between attempts of --watch
};

int RunCli(int argc, const char* const* argv, const CliDependencies& dependencies,
           const Output& output);

}  // namespace c4::cli
