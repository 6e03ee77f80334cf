// c4-agent. Wires and waits; everything that can be tested is in agent.h.
#include <malloc.h>

#include <memory>
#include <random>

#include "agent/app/agent.h"
#include "agent/app/options.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/random_id.h"
#include "common/stop.h"
#include "common/string_view.h"
#include "common/version.h"
#include "fmt/format.h"
#include "spdlog/spdlog.h"

int main(int argc, char** argv) {
  // Batches are large, of all sizes, and live as long as the analyzer is away: as mappings of their
  // own they go back to the system when they go. On the heap the spool's 32 MiB took 56.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  c4::agent::Options options;
  int exit_code = 0;
  if (!c4::agent::ParseOptions(argc, argv, options, exit_code)) return exit_code;
  if (const absl::Status status = c4::InitLogging("c4-agent", options.log_level); !status.ok()) {
    fmt::print(stderr, "c4-agent: {}\n", c4::ToStd(status.message()));
    return 2;
  }
  // Before any thread starts: the signals are blocked in all of them.
  const auto stop = c4::StopSignal::Create();
  if (!stop.ok()) {
    spdlog::error("{}", c4::ToStd(stop.status().message()));
    return 1;
  }
  const c4::SystemClock clock;
  auto random = std::make_shared<std::mt19937_64>(std::random_device{}());
  const auto agent = c4::agent::Agent::Create(
      options, {.clock = &clock,
                .uniform = [random] { return std::uniform_real_distribution<>(0, 1)(*random); },
                .agent_instance = c4::RandomId(),
                .stop_fd = stop->fd()});
  if (!agent.ok()) {
    spdlog::error("{}", c4::ToStd(agent.status().message()));
    return 1;
  }
  spdlog::info("version {} on node {}: hook files in {}, analyzer {}", c4::kVersion, options.node,
               options.run_dir, options.analyzer);
  const absl::Status status = (*agent)->Run();
  if (!status.ok()) {
    spdlog::error("{}", c4::ToStd(status.message()));
    return 1;
  }
  spdlog::info("stopped");
  return 0;
}
