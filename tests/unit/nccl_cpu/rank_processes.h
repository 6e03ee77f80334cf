// Runs a test scenario in several processes, one per rank, as the libraries under test require.
//
// RunRanks() executes this test program again once per rank; such a process runs the named scenario
// with its Rank and ends with status 0 when all its CHECKs held. A memory segment shared by all
// ranks carries the unique ids, a barrier and a few flags, so that scenarios order their steps
// without sleeping. If a rank fails, the others are killed. ctest's timeout bounds everything else.
// Thread: the test's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"

namespace c4::testing {

// Ends a rank process with a message unless the condition holds.
#define C4_CHECK(condition)                                                    \
  do {                                                                         \
    if (!(condition)) ::c4::testing::FailRank(__FILE__, __LINE__, #condition); \
  } while (false)
[[noreturn]] void FailRank(const char* file, int line, const char* what);

class Rank {
 public:
  static Rank FromEnvironment();

  int rank() const { return rank_; }
  int nranks() const { return nranks_; }
  void Barrier();
  // The same unique id on every rank: rank 0 creates it. Each slot serves one communicator.
  ncclUniqueId UniqueId(int slot = 0);
  // Flags all ranks see, initially 0.
  void Set(int flag, uint32_t value = 1);
  uint32_t Get(int flag) const;
  void WaitFor(int flag, uint32_t value = 1) const;  // blocks until the flag is at least value
  void Add(int flag);
  // 64-bit values all ranks see; order them by flags or barriers.
  void Store(int slot, int64_t value);
  int64_t Load(int slot) const;

 private:
  struct Shared;
  int rank_ = 0;
  int nranks_ = 0;
  Shared* shared_ = nullptr;
};

using Scenario = std::function<void(Rank&)>;

// Registers a scenario under its name, at the program's start.
struct ScenarioRegistration {
  ScenarioRegistration(const char* name, Scenario scenario);
};
#define C4_SCENARIO(name)                                                            \
  static void name(::c4::testing::Rank& rank);                                       \
  static const ::c4::testing::ScenarioRegistration name##_registration(#name, name); \
  static void name(::c4::testing::Rank& rank)

using Environment = std::vector<std::pair<std::string, std::string>>;

// The ranks' exit statuses as waitpid() gives them. environment(rank) is added to each rank's.
std::vector<int> RunRanksForStatus(const std::string& scenario, int nranks,
                                   const std::function<Environment(int)>& environment = nullptr);
// Whether all ranks ended with status 0.
bool RunRanks(const std::string& scenario, int nranks,
              const std::function<Environment(int)>& environment = nullptr);

}  // namespace c4::testing
