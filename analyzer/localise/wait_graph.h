// Who waits for whom, right now, across all communicators of a job (DESIGN section 5, "Hangs").
//
// An edge r -> q: r is inside an operation that cannot end before q has started it, and q has not.
// A rank with an operation started and not ended is explained by that operation; a rank without one
// is a sink, and is where the waiting ends. Pure function of the model and `now`.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "analyzer/model/job_model.h"

namespace c4::localise {

struct Wait {
  int rank = -1;
  const model::Operation* operation = nullptr;  // that `rank` is inside of
};

struct Sink {
  int rank = -1;
  // Enqueued and not started, the earliest: its GPU has not got there. nullptr: the host never
  // called what the others are waiting in.
  const model::Operation* pending = nullptr;
  std::vector<Wait> waiters;  // direct ones
  int reach = 0;              // ranks that wait for it, directly or not
  model::TimeNs last_movement = 0;
};

struct WaitGraph {
  std::map<int, std::set<int>> edges;
  std::vector<Sink> sinks;  // most reached first, then earliest to stop
  std::vector<std::vector<int>> cycles;
  // Operations that everybody needed has started and that have not ended.
  std::vector<const model::Operation*> full;
  std::vector<int> waiting;  // ranks inside something
};

WaitGraph BuildWaitGraph(const model::JobModel& job, model::TimeNs now);

}  // namespace c4::localise
