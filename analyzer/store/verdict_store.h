// Where verdicts survive a restart of the analyzer. Nothing else is stored: what the engine has
// learned comes again from the agents.
//
// One owner thread. Put() returns after the verdicts are on the disk, so that whatever is shown or
// acted upon afterwards is still known after a crash.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c4/v1/verdict.pb.h"

namespace c4::store {

class VerdictStore {
 public:
  virtual ~VerdictStore() = default;

  // All or nothing; a verdict with an id that is there replaces it.
  virtual absl::Status Put(const std::vector<v1::Verdict>& verdicts) = 0;

  // Not resolved, oldest first.
  virtual absl::StatusOr<std::vector<v1::Verdict>> LoadOpen() = 0;

  // Newest first, at most `count_max`.
  virtual absl::StatusOr<std::vector<v1::Verdict>> LoadRecent(int count_max) = 0;
};

}  // namespace c4::store
