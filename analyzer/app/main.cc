// c4-analyzer. Wires and waits; everything that can be tested is in service.h.
#include <memory>

#include "analyzer/api/real_engine.h"
#include "analyzer/app/options.h"
#include "analyzer/app/service.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/stop.h"
#include "common/string_view.h"
#include "common/version.h"
#include "fmt/format.h"
#include "spdlog/spdlog.h"

int main(int argc, char** argv) {
  c4::app::Options options;
  int exit_code = 0;
  if (!c4::app::ParseOptions(argc, argv, options, exit_code)) return exit_code;
  if (const absl::Status status = c4::InitLogging("c4-analyzer", options.log_level); !status.ok()) {
    fmt::print(stderr, "c4-analyzer: {}\n", c4::ToStd(status.message()));
    return 2;
  }
  // Before any thread starts: the signals are blocked in all of them.
  const auto stop = c4::StopSignal::Create();
  if (!stop.ok()) {
    spdlog::error("{}", c4::ToStd(stop.status().message()));
    return 1;
  }
  const c4::SystemClock clock;
  const auto service =
      c4::app::Service::Start(options, &clock, std::make_unique<c4::api::RealEngine>());
  if (!service.ok()) {
    spdlog::error("{}", c4::ToStd(service.status().message()));
    return service.status().code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
  }
  if (options.insecure) spdlog::warn("connections are neither encrypted nor authenticated");
  spdlog::info("version {} listens on {}, verdicts in {}", c4::kVersion, (*service)->address(),
               options.store);
  const int signal = stop->Wait();
  spdlog::info("stopping on signal {}", signal);
  (*service)->Stop();
  return 0;
}
