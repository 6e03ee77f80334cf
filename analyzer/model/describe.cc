#include "analyzer/model/describe.h"

#include <fmt/format.h>

#include <algorithm>

namespace c4::model {

std::string Describe(const JobModel& job, const Operation& operation) {
  const Communicator& communicator = job.communicator(operation.communicator);
  std::string text = fmt::format("{} #{}", *operation.name, operation.sequence);
  if (IsPointToPoint(operation.kind)) {
    const auto& ranks = communicator.ranks;
    const int peer = operation.peer >= 0 && operation.peer < static_cast<int>(ranks.size())
                         ? ranks[operation.peer]
                         : -1;
    text += fmt::format(" {} rank {}", operation.kind == Dependency::kSend ? "to" : "from", peer);
  }
  return text + " of communicator " + communicator.id;
}

std::string DescribeRank(const JobModel& job, int rank) {
  const auto found = job.ranks().find(rank);
  if (found == job.ranks().end() || found->second.info.node.empty()) {
    return fmt::format("rank {}", rank);
  }
  const RankRecord& info = found->second.info;
  return info.gpu >= 0 ? fmt::format("rank {} ({}, GPU {})", rank, info.node, info.gpu)
                       : fmt::format("rank {} ({})", rank, info.node);
}

std::string DescribeRanks(const std::vector<int>& ranks) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  std::string text = sorted.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) {
      ++last;
    }
    text += i == 0 ? "" : ", ";
    text += last > i ? fmt::format("{}-{}", sorted[i], sorted[last]) : fmt::format("{}", sorted[i]);
    i = last + 1;
  }
  return text;
}

std::string Seconds(DurationNs duration) {
  const double seconds = static_cast<double>(duration) / 1e9;
  return seconds >= 1 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.1f} ms", seconds * 1e3);
}

std::string AnchorOf(const JobModel& job, const Operation& operation) {
  return fmt::format("{}/{}/{}/{}", job.communicator(operation.communicator).id, *operation.name,
                     operation.sequence, operation.peer);
}

Component RankComponent(const JobModel& job, int rank) {
  Component component;
  component.kind = component_kind::kRank;
  component.rank = rank;
  if (const auto found = job.ranks().find(rank); found != job.ranks().end()) {
    component.node = found->second.info.node;
    component.pci = found->second.info.pci;
    if (found->second.info.gpu >= 0) {
      component.gpu = found->second.info.gpu;
    }
  }
  return component;
}

Component GpuComponent(const JobModel& job, int rank) {
  Component component = RankComponent(job, rank);
  component.kind = component_kind::kGpu;
  return component;
}

}  // namespace c4::model
