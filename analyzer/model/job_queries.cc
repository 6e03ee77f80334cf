// What JobModel answers about what it holds; job_model.cc is how it comes to hold it.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/model/job_model.h"

namespace c4::model {

const Instance* JobModel::InstanceOf(const Operation& operation) const {
  return operation.instance;
}

const Operation* JobModel::Counterpart(const Operation& operation, int rank) const {
  if (operation.instance == nullptr) {
    return nullptr;
  }
  const std::vector<Operation*>& members = operation.instance->members;
  const auto found =
      std::lower_bound(members.begin(), members.end(), rank,
                       [](const Operation* member, int wanted) { return member->rank < wanted; });
  return found == members.end() || (*found)->rank != rank ? nullptr : *found;
}

std::vector<int> JobModel::MustStart(const Operation& operation) const {
  const std::vector<int>& ranks = communicators_[operation.communicator]->ranks;
  const auto one = [&](int member) -> std::vector<int> {
    const bool valid =
        member >= 0 && member < static_cast<int>(ranks.size()) && ranks[member] != operation.rank;
    return valid ? std::vector<int>{ranks[member]} : std::vector<int>{};
  };
  switch (operation.kind) {
    case Dependency::kRecv:
    case Dependency::kSend:  // a large Send needs its Recv's credits
      return one(operation.peer);
    case Dependency::kRootSends:
      return one(operation.root);
    case Dependency::kRootReceives:
      if (operation.member != operation.root) {
        return {};
      }
      [[fallthrough]];
    case Dependency::kAll: {
      std::vector<int> others;
      std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(others),
                   [&](int rank) { return rank != operation.rank; });
      return others;
    }
    case Dependency::kNone:
      return {};
  }
  return {};
}

std::string JobModel::NodeOf(int rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? "" : found->second.info.node;
}

std::set<std::string> JobModel::NodesOf(const std::vector<int>& ranks) const {
  std::set<std::string> nodes;
  for (const int rank : ranks) {
    if (const std::string node = NodeOf(rank); !node.empty()) {
      nodes.insert(node);
    }
  }
  return nodes;
}

std::optional<ProcessRecord> JobModel::ExitOf(int rank, TimeNs now) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end() || found->second.exits.empty() ||
      found->second.exits.front().time > now) {
    return std::nullopt;
  }
  return found->second.exits.front();
}

std::vector<const Instance*> JobModel::TakeCompleted() { return std::exchange(completed_, {}); }
std::vector<Operation*> JobModel::TakeEnqueued() { return std::exchange(enqueued_, {}); }
std::vector<const Operation*> JobModel::TakeSettled() { return std::exchange(settled_, {}); }

}  // namespace c4::model
