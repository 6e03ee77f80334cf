// Implementation of rank_processes.h, and the program's main().
#include "tests/unit/nccl_cpu/rank_processes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>

extern char** environ;

namespace c4::testing {
namespace {

constexpr int kIdSlots = 8;
constexpr int kFlags = 64;

std::map<std::string, Scenario>& Scenarios() {
  static auto& scenarios = *new std::map<std::string, Scenario>;
  return scenarios;
}

int IntFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

// Waits until the word differs from `seen`, in any process that maps it.
void FutexWait(const std::atomic<uint32_t>* word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

void FutexWakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace

struct Rank::Shared {
  std::atomic<uint32_t> barrier_arrived;
  std::atomic<uint32_t> barrier_round;
  std::atomic<uint32_t> id_ready[kIdSlots];
  ncclUniqueId ids[kIdSlots];
  std::atomic<uint32_t> flags[kFlags];
  std::atomic<int64_t> values[kFlags];
};

void FailRank(const char* file, int line, const char* what) {
  const char* rank = std::getenv("C4_TEST_RANK");
  std::fprintf(stderr, "%s:%d: rank %s: failed: %s\n", file, line, rank == nullptr ? "?" : rank,
               what);
  _exit(1);
}

Rank Rank::FromEnvironment() {
  Rank rank;
  rank.rank_ = IntFromEnvironment("C4_TEST_RANK");
  rank.nranks_ = IntFromEnvironment("C4_TEST_NRANKS");
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                      IntFromEnvironment("C4_TEST_SHARED_FD"), 0);
  C4_CHECK(memory != MAP_FAILED);
  rank.shared_ = static_cast<Shared*>(memory);
  return rank;
}

void Rank::Barrier() {
  const uint32_t round = shared_->barrier_round.load();
  if (shared_->barrier_arrived.fetch_add(1) + 1 == static_cast<uint32_t>(nranks_)) {
    shared_->barrier_arrived.store(0);
    shared_->barrier_round.fetch_add(1);
    FutexWakeAll(&shared_->barrier_round);
    return;
  }
  while (shared_->barrier_round.load() == round) FutexWait(&shared_->barrier_round, round);
}

ncclUniqueId Rank::UniqueId(int slot) {
  C4_CHECK(slot >= 0 && slot < kIdSlots);
  std::atomic<uint32_t>* ready = &shared_->id_ready[slot];
  if (rank_ == 0) {
    C4_CHECK(ncclGetUniqueId(&shared_->ids[slot]) == ncclSuccess);
    ready->store(1);
    FutexWakeAll(ready);
  }
  while (ready->load() == 0) FutexWait(ready, 0);
  return shared_->ids[slot];
}

void Rank::Set(int flag, uint32_t value) {
  shared_->flags[flag].store(value);
  FutexWakeAll(&shared_->flags[flag]);
}

void Rank::Add(int flag) {
  shared_->flags[flag].fetch_add(1);
  FutexWakeAll(&shared_->flags[flag]);
}

void Rank::Store(int slot, int64_t value) { shared_->values[slot].store(value); }

int64_t Rank::Load(int slot) const { return shared_->values[slot].load(); }

uint32_t Rank::Get(int flag) const { return shared_->flags[flag].load(); }

void Rank::WaitFor(int flag, uint32_t value) const {
  for (uint32_t seen = Get(flag); seen < value; seen = Get(flag)) {
    FutexWait(&shared_->flags[flag], seen);
  }
}

ScenarioRegistration::ScenarioRegistration(const char* name, Scenario scenario) {
  Scenarios()[name] = std::move(scenario);
}

std::vector<int> RunRanksForStatus(const std::string& scenario, int nranks,
                                   const std::function<Environment(int)>& environment) {
  const int shared = memfd_create("c4-ranks", 0);  // inherited by the ranks
  if (shared < 0 || ftruncate(shared, 1 << 16) != 0) return {};
  std::vector<pid_t> pids;
  for (int i = 0; i < nranks; ++i) {
    Environment variables = environment == nullptr ? Environment() : environment(i);
    variables.emplace_back("C4_TEST_SCENARIO", scenario);
    variables.emplace_back("C4_TEST_RANK", std::to_string(i));
    variables.emplace_back("C4_TEST_NRANKS", std::to_string(nranks));
    variables.emplace_back("C4_TEST_SHARED_FD", std::to_string(shared));
    // Everything that allocates comes before the fork.
    std::vector<std::string> texts;
    for (char** at = environ; *at != nullptr; ++at) texts.emplace_back(*at);
    for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    char name[] = "rank";
    char* const arguments[] = {name, nullptr};
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no strays when ctest kills the test
      execve("/proc/self/exe", arguments, pointers.data());
      _exit(127);
    }
    pids.push_back(pid);
  }
  close(shared);
  std::vector<int> statuses(pids.size(), -1);
  for (size_t left = pids.size(); left > 0; --left) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; i < pids.size(); ++i) {
      if (pids[i] == pid) statuses[i] = status;
    }
    // A rank that failed a check leaves the others waiting; one that was killed was meant to be.
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      for (size_t i = 0; i < pids.size(); ++i) {
        if (statuses[i] == -1) kill(pids[i], SIGKILL);
      }
    }
  }
  return statuses;
}

bool RunRanks(const std::string& scenario, int nranks,
              const std::function<Environment(int)>& environment) {
  const std::vector<int> statuses = RunRanksForStatus(scenario, nranks, environment);
  return !statuses.empty() &&
         std::all_of(statuses.begin(), statuses.end(), [](int status) { return status == 0; });
}

}  // namespace c4::testing

int main(int argc, char** argv) {
  if (const char* name = std::getenv("C4_TEST_SCENARIO")) {
    const auto found = c4::testing::Scenarios().find(name);
    if (found == c4::testing::Scenarios().end()) {
      c4::testing::FailRank(__FILE__, __LINE__, "unknown scenario");
    }
    c4::testing::Rank rank = c4::testing::Rank::FromEnvironment();
    found->second(rank);
    return 0;
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
