// Where a rank stands in the job, and the communicators that follow from it.
//
// rank = (pipeline * DP + data) * TP + tensor: tensor-parallel ranks are neighbours (one node),
// data- parallel replicas of a stage come next, pipeline stages are farthest apart. Thread: main
// creates; afterwards constant, so that the watchdog may read.
#pragma once

#include <array>

#include "tests/train/abi.h"
#include "tests/train/options.h"

namespace c4::train {

struct Position {
  int tensor = 0;
  int data = 0;
  int pipeline = 0;

  bool operator==(const Position&) const = default;
};

Position PositionOf(int rank, const Options& options);
int RankAt(const Position& position, const Options& options);

struct Communicators {
  ncclComm_t world = nullptr;
  ncclComm_t tensor = nullptr;
  ncclComm_t data = nullptr;
  ncclComm_t pipeline = nullptr;

  struct Named {
    const char* name;
    ncclComm_t handle;
  };
  std::array<Named, 4> All() const {
    return {{{"world", world}, {"tp", tensor}, {"dp", data}, {"pp", pipeline}}};
  }
};

// Blocks until all ranks have come. Ends the process on failure.
Communicators CreateCommunicators(const Options& options);
// Collective as well: all ranks, nothing in flight.
void DestroyCommunicators(const Communicators& communicators);

}  // namespace c4::train
