#include "analyzer/model/operation.h"

#include <map>

namespace c4::model {

Dependency DependencyOf(const std::string& name) {
  static const auto* const kKinds = new std::map<std::string, Dependency>{
      {"AllReduce", Dependency::kAll},       {"AllGather", Dependency::kAll},
      {"ReduceScatter", Dependency::kAll},   {"AlltoAll", Dependency::kAll},
      {"Broadcast", Dependency::kRootSends}, {"Scatter", Dependency::kRootSends},
      {"Reduce", Dependency::kRootReceives}, {"Gather", Dependency::kRootReceives},
      {"Send", Dependency::kSend},           {"Recv", Dependency::kRecv},
  };
  const auto found = kKinds->find(name);
  return found == kKinds->end() ? Dependency::kNone : found->second;
}

bool SameCall(const Operation& a, const Operation& b) {
  if (a.count != b.count || a.datatype != b.datatype) {  // interned
    return false;
  }
  return IsPointToPoint(a.kind) || (a.name == b.name && a.root == b.root);
}

}  // namespace c4::model
