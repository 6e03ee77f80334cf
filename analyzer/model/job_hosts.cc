// What JobModel takes in about hosts and texts beside operations: bounded lists per rank.
#include <algorithm>
#include <iterator>

#include "analyzer/model/job_model.h"

namespace c4::model {

void JobModel::Apply(const HostStateRecord& record) {
  std::deque<HostStateRecord>& hosts = ranks_[record.rank].hosts;
  const auto place = std::upper_bound(hosts.begin(), hosts.end(), record,
                                      [](const auto& a, const auto& b) { return a.time < b.time; });
  if (place != hosts.begin() && std::prev(place)->time == record.time) {
    return;
  }
  hosts.insert(place, record);
  if (hosts.size() > kHostStatesPerRank) {
    hosts.pop_front();
  }
}

void JobModel::Apply(const ErrorRecord& record) {
  std::deque<ErrorRecord>& errors = ranks_[record.rank].errors;
  if (errors.size() < kHostStatesPerRank) {
    errors.push_back(record);
  }
}

}  // namespace c4::model
