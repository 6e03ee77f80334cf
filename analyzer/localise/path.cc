#include "analyzer/localise/path.h"

#include <fmt/format.h>

#include <algorithm>

namespace c4::localise {

using model::JobModel;
using model::Operation;

Path PathOf(const JobModel& job, const Operation& operation) {
  const model::Communicator& communicator = job.communicator(operation.communicator);
  Path path;
  std::vector<int> ranks = communicator.ranks;
  if (model::IsPointToPoint(operation.kind)) {
    ranks = {operation.rank};
    if (operation.peer >= 0 && operation.peer < static_cast<int>(communicator.ranks.size())) {
      ranks.push_back(communicator.ranks[operation.peer]);
    }
    std::sort(ranks.begin(), ranks.end());
    path.label =
        fmt::format("{} between ranks {} and {}", communicator.id, ranks.front(), ranks.back());
  } else {
    path.label = fmt::format("{} in {}", *operation.name, communicator.id);
  }
  for (const int rank : ranks) {
    if (const auto found = job.ranks().find(rank);
        found != job.ranks().end() && !found->second.info.node.empty()) {
      path.endpoints.insert({found->second.info.node, found->second.info.nic});
    }
  }
  return path;
}

}  // namespace c4::localise
