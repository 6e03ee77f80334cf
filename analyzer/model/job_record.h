// What is known of a job as a whole; part of the vocabulary of trace.h, with the same conventions.
//
// Only the first three fields come live. The others are what an operator or a scheduler adds to a
// trace; each is optional and says "not known" by default.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace c4::model {

// An incident of the same job before this one, as it was diagnosed then.
struct PreviousIncident {
  std::string node;
  int rank = -1;  // -1: unknown
  std::string verdict_class;
  std::string operation;
  std::string state;  // of the operation: "called, not started", …
  std::string host;   // innermost telling frame of the host's stack
};

struct JobRecord {
  std::string job;
  std::uint32_t restarts = 0;
  std::string nccl_version;
  std::vector<PreviousIncident> previous_incidents;
  double expected_collective_seconds = 0;   // the longest that is normal; 0: unknown
  std::map<int, std::int64_t> step_offset;  // by rank: the step it resumed at, against the others
  std::map<int, std::int64_t> steps_done;   // by rank
  // By node, "" for a word on all of them: who has taken it out of service already.
  std::map<std::string, std::string> cordoned_by;
  bool dry_run = false;
};

}  // namespace c4::model
