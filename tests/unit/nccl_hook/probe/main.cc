#include <unistd.h>

#include <cstring>

#include "tests/unit/nccl_hook/probe/probe.h"

namespace c4::hook::probe {

CommHandle MakeCommunicator(int rank_count, int rank) {
  UniqueId id;
  PROBE_CHECK(ncclGetUniqueId(&id) == kSuccess);
  CommHandle communicator = nullptr;
  PROBE_CHECK(ncclCommInitRank(&communicator, rank_count, id, rank) == kSuccess);
  PROBE_CHECK(communicator != nullptr);
  return communicator;
}

void SayReady() {
  std::puts("ready");
  std::fflush(stdout);
}

void WaitForGo() {
  char byte;
  PROBE_CHECK(read(STDIN_FILENO, &byte, 1) == 1);
}

}  // namespace c4::hook::probe

int main(int argc, char** argv) {
  using namespace c4::hook::probe;  // NOLINT(google-build-using-namespace): a table of its names
  struct Scenario {
    const char* name;
    int (*run)();
  };
  constexpr Scenario kScenarios[] = {
      {"collectives", Collectives},
      {"groups", Groups},
      {"refused", Refused},
      {"captured", Captured},
      {"nested", Nested},
      {"init_all", InitAll},
      {"splits", Splits},
      {"non_blocking", NonBlocking},
      {"aborted", Aborted},
      {"stuck_call", StuckCall},
      {"stuck_stream", StuckStream},
      {"pool_exhausted", PoolExhausted},
      {"cuda_dies", CudaDies},
      {"forks", Forks},
      {"missing_functions", MissingFunctions},
      {"second_life", SecondLife},
  };
  for (const Scenario& scenario : kScenarios) {
    if (argc == 2 && std::strcmp(argv[1], scenario.name) == 0) {
      return scenario.run();
    }
  }
  std::fprintf(stderr, "usage: hook_probe SCENARIO\n");
  return 2;
}
