// What clients may see: the recent verdicts, the jobs, the state of the service. Written by the
// owner, read by the threads of the query service; every reader gets immutable values.
//
// Thread-safe. Bounded: the newest verdicts, and every one that is open.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analyzer/api/mutex.h"
#include "c4/v1/service.pb.h"
#include "c4/v1/verdict.pb.h"

namespace c4::api {

using SharedVerdict = std::shared_ptr<const v1::Verdict>;

struct VerdictFilter {
  std::string job;  // empty: all
  bool include_info = false;

  bool Matches(const v1::Verdict& verdict) const {
    return (job.empty() || verdict.job() == job) && (include_info || verdict.severity() != "info");
  }
};

// Somebody who wants to hear of each new or changed verdict. Called with the board locked: takes
// the value and returns.
class VerdictListener {
 public:
  virtual ~VerdictListener() = default;
  virtual void OnVerdict(const SharedVerdict& verdict) = 0;
};

class Board {
 public:
  // A page of verdicts for a person; more are in the store.
  static constexpr std::size_t kVerdictsMax = 1000;

  explicit Board(std::size_t verdicts_max = kVerdictsMax) : verdicts_max_(verdicts_max) {}

  // Owner.
  void Publish(const std::vector<v1::Verdict>& verdicts);
  void SetJobs(std::vector<v1::Job> jobs);
  void SetStatus(v1::GetStatusResponse status);

  // Newest first.
  std::vector<SharedVerdict> Verdicts(const VerdictFilter& filter) const;
  std::vector<v1::Job> Jobs() const;
  v1::GetStatusResponse Status() const;

  // What matches now, oldest first; everything published afterwards goes to the listener, matching
  // or not, with nothing lost or repeated in between. Unsubscribe() before it dies.
  std::vector<SharedVerdict> Subscribe(const VerdictFilter& filter, VerdictListener* listener);
  void Unsubscribe(VerdictListener* listener);
  std::size_t listeners() const;

 private:
  std::vector<SharedVerdict> NewestFirst(const VerdictFilter& filter) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t verdicts_max_;
  mutable Mutex mutex_;
  std::map<std::string, SharedVerdict> verdicts_ ABSL_GUARDED_BY(mutex_);
  std::set<VerdictListener*> listeners_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Job> jobs_ ABSL_GUARDED_BY(mutex_);
  v1::GetStatusResponse status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace c4::api
