// One NCCL call of one rank, and who in it must start before whom can end (DESIGN section 5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/time.h"

namespace c4::model {

// Who waits for whom in an operation.
enum class Dependency : std::uint8_t {
  kAll,           // nobody ends before everybody has started: AllReduce, AllGather, …
  kRootSends,     // nobody ends before the root has started: Broadcast, Scatter
  kRootReceives,  // the root does not end before everybody has started: Reduce, Gather
  kSend,
  kRecv,
  kNone,  // one-sided, or a name we do not know: nothing is concluded from it
};

Dependency DependencyOf(const std::string& name);

inline bool IsPointToPoint(Dependency kind) {
  return kind == Dependency::kSend || kind == Dependency::kRecv;
}

struct Instance;

struct Operation {
  int rank = -1;
  int communicator = -1;  // index in JobModel
  int member = -1;        // rank in the communicator; -1: membership not known yet
  std::uint64_t sequence = 0;
  const std::string* name = nullptr;  // interned, never null
  const std::string* datatype = nullptr;
  Dependency kind = Dependency::kNone;
  std::uint64_t count = 0;
  int root = -1;
  int peer = -1;  // rank in the communicator
  std::uint32_t group = 0;
  std::uint64_t stream = 0;
  TimeNs enqueue = 0;
  TimeNs returned = 0;
  TimeNs start = 0;
  TimeNs end = 0;
  bool captured = false;
  bool abandoned = false;
  bool untimed = false;
  Instance* instance = nullptr;  // nullptr: membership not known yet

  // As of `at`: what has a later time has not happened.
  bool EnqueuedBy(TimeNs at) const { return enqueue != 0 && enqueue <= at; }
  bool StartedBy(TimeNs at) const { return start != 0 && start <= at; }
  bool EndedBy(TimeNs at) const { return end != 0 && end <= at; }
  // Times will not come: says nothing about where the rank is.
  bool Blind() const { return captured || abandoned || untimed; }
};

// What belongs together: one collective of a communicator, or a Send and its Recv.
struct Instance {
  std::vector<Operation*> members;  // sorted by rank
  std::uint32_t ended = 0;          // of them, as of the last tick
  bool complete = false;            // everybody it needs has ended
  bool uniform = true;              // members agree on all that must be equal
};

// Name, count, datatype and root; of Send and Recv only what both have.
bool SameCall(const Operation& a, const Operation& b);

}  // namespace c4::model
