// Stands in for training processes: writes hook files at a steady rate, one per rank, until it is
// killed. All of them are this process's, so the agent finds it alive.
//
// Usage: agent-load DIRECTORY RANKS OPERATIONS_PER_SECOND
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/agent/rings/fake_hook.h"

namespace {

std::uint64_t StartTicks() {
  std::ifstream file("/proc/self/stat");
  std::stringstream text;
  text << file.rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

std::int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: agent-load DIRECTORY RANKS OPERATIONS_PER_SECOND\n");
    return 2;
  }
  const int ranks = std::atoi(argv[2]);
  const int rate = std::atoi(argv[3]);
  std::vector<std::unique_ptr<c4::agent::testing::FakeHook>> hooks;
  for (int rank = 0; rank < ranks; ++rank) {
    c4::agent::testing::FakeHook::Options options;
    options.operation_capacity = c4::abi::kOperationCapacity;
    options.communicator_capacity = c4::abi::kCommunicatorCapacity;
    options.pid = getpid();
    options.start_ticks = StartTicks();
    options.rank = rank;
    hooks.push_back(std::make_unique<c4::agent::testing::FakeHook>(
        std::string(argv[1]) + "/" + std::to_string(getpid()) + "-" + std::to_string(rank) + ".c4",
        options));
    hooks.back()->AddCommunicator(0, 11, rank, ranks);
  }
  // Each round begins an operation and ends the one before, every 5 ms in a bunch, as steps do.
  const int per_round = rate / 200;
  std::vector<std::vector<std::uint64_t>> open(hooks.size());
  while (true) {
    for (std::size_t rank = 0; rank < hooks.size(); ++rank) {
      const std::int64_t now_ns = NowNs();
      for (const std::uint64_t position : open[rank]) {
        hooks[rank]->End(position, now_ns - 2'000'000, now_ns);
      }
      open[rank].clear();
      for (int i = 0; i < per_round; ++i) open[rank].push_back(hooks[rank]->Begin(now_ns));
      hooks[rank]->header().heartbeat_ns = now_ns;
    }
    const timespec round = {0, 5'000'000};
    nanosleep(&round, nullptr);
  }
}
