#include "analyzer/localise/wait_graph.h"

#include <algorithm>
#include <functional>

namespace c4::localise {
namespace {

using model::JobModel;
using model::Operation;
using model::TimeNs;

bool HasStarted(const JobModel& job, const Operation& operation, int rank, TimeNs now) {
  const Operation* other = job.Counterpart(operation, rank);
  return other != nullptr && (other->StartedBy(now) || other->Blind());
}

TimeNs LastMovement(const model::Rank& rank, TimeNs now) {
  TimeNs last = 0;
  for (const Operation& operation : rank.operations) {
    for (const TimeNs time : {operation.enqueue, operation.start, operation.end}) {
      if (time <= now) {
        last = std::max(last, time);
      }
    }
  }
  return last;
}

// Ranks from which `sink` can be reached.
int Reach(const std::map<int, std::set<int>>& reversed, int sink) {
  std::set<int> seen{sink};
  std::vector<int> next{sink};
  while (!next.empty()) {
    const int rank = next.back();
    next.pop_back();
    if (const auto found = reversed.find(rank); found != reversed.end()) {
      for (const int waiter : found->second) {
        if (seen.insert(waiter).second) {
          next.push_back(waiter);
        }
      }
    }
  }
  return static_cast<int>(seen.size()) - 1;
}

// Cycles of the graph as strongly connected components of more than one rank, by mutual reach:
// quadratic in what is stuck, which a hang leaves to run once a second.
std::vector<std::vector<int>> FindCycles(const std::map<int, std::set<int>>& edges) {
  std::map<int, std::set<int>> reach;
  const std::function<const std::set<int>&(int)> from = [&](int rank) -> const std::set<int>& {
    const auto [entry, added] = reach.emplace(rank, std::set<int>{});
    if (added) {
      std::vector<int> next{rank};
      while (!next.empty()) {
        const int at = next.back();
        next.pop_back();
        if (const auto found = edges.find(at); found != edges.end()) {
          for (const int to : found->second) {
            if (entry->second.insert(to).second) {
              next.push_back(to);
            }
          }
        }
      }
    }
    return entry->second;
  };
  std::vector<std::vector<int>> cycles;
  std::set<int> done;
  for (const auto& [rank, targets] : edges) {
    if (done.contains(rank) || !from(rank).contains(rank)) {
      continue;
    }
    std::vector<int> cycle;
    const std::set<int> reached = from(rank);
    for (const int other : reached) {
      if (from(other).contains(rank)) {
        cycle.push_back(other);
        done.insert(other);
      }
    }
    cycles.push_back(std::move(cycle));
  }
  return cycles;
}

}  // namespace

WaitGraph BuildWaitGraph(const JobModel& job, TimeNs now) {
  WaitGraph graph;
  std::map<int, std::set<int>> reversed;
  std::map<int, std::vector<Wait>> waiters;
  std::set<int> inside;
  std::set<std::pair<int, std::uint32_t>> held;  // (rank, group)
  for (const auto& [number, rank] : job.ranks()) {
    for (const Operation* operation : rank.open) {
      if (!operation->StartedBy(now)) {
        continue;
      }
      inside.insert(number);
      bool all = true;
      for (const int other : job.MustStart(*operation)) {
        if (other >= 0 && HasStarted(job, *operation, other, now)) {
          continue;
        }
        all = false;
        if (other >= 0) {
          graph.edges[number].insert(other);
          reversed[other].insert(number);
          waiters[other].push_back({number, operation});
        }
      }
      // The operations of a group share one interval: none of them ends before all can.
      if (!all && operation->group != 0) {
        held.emplace(number, operation->group);
      }
      if (all && operation->member >= 0) {
        graph.full.push_back(operation);
      }
    }
  }
  std::erase_if(graph.full, [&](const Operation* operation) {
    return held.contains({operation->rank, operation->group});
  });
  graph.waiting.assign(inside.begin(), inside.end());
  graph.cycles = FindCycles(graph.edges);
  for (auto& [number, waits] : waiters) {
    if (inside.contains(number)) {
      continue;
    }
    Sink sink{.rank = number,
              .pending = nullptr,
              .waiters = waits,
              .reach = Reach(reversed, number),
              .last_movement = 0};
    if (const auto found = job.ranks().find(number); found != job.ranks().end()) {
      sink.last_movement = LastMovement(found->second, now);
      for (const Operation* operation : found->second.open) {
        if (!operation->StartedBy(now)) {
          sink.pending = operation;
          break;
        }
      }
    }
    graph.sinks.push_back(std::move(sink));
  }
  std::sort(graph.sinks.begin(), graph.sinks.end(), [](const Sink& a, const Sink& b) {
    return std::tie(b.reach, a.last_movement, a.rank) < std::tie(a.reach, b.last_movement, b.rank);
  });
  return graph;
}

}  // namespace c4::localise
