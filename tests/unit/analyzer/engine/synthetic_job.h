// A small data-parallel job as records: every step each rank computes and then all-reduces over all
// ranks, two ranks to a node. Faults are put in by changing what one rank does from a step on.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/engine/engine.h"

namespace c4::engine::testing {

inline constexpr model::TimeNs kBegin = 1'750'000'000 * model::kSecond;

struct Behaviour {
  model::DurationNs compute = 400 * model::kMillisecond;
  model::DurationNs host_late = 0;  // the host calls this long after the GPU ran dry
  std::string name = "AllReduce";
  std::uint64_t count = 1 << 20;
  bool calls = true;   // false: the host never calls
  bool starts = true;  // false: the GPU never gets there
  bool ends = true;    // false: the transfer never ends
};

struct SyntheticJob {
  int ranks = 4;
  int steps = 30;
  model::DurationNs transfer = 20 * model::kMillisecond;
  std::function<void(int step, int rank, Behaviour*)> change = [](int, int, Behaviour*) {};

  std::vector<model::Record> Records() const {
    std::vector<model::Record> records;
    std::vector<int> members;
    for (int rank = 0; rank < ranks; ++rank) {
      model::RankRecord record;
      record.job = "j";
      record.rank = rank;
      record.node = "n" + std::to_string(rank / 2);
      record.nic = "hsn0";
      record.gpu = record.local_rank = rank % 2;
      record.world_size = ranks;
      records.emplace_back(record);
      members.push_back(rank);
    }
    records.emplace_back(model::CommunicatorRecord{"j", 0, "dp", "", members});
    std::vector<model::TimeNs> free(ranks, kBegin);
    for (int step = 0; step < steps; ++step) {
      std::vector<model::OperationRecord> operations;
      model::TimeNs last = 0;
      bool all = true;
      for (int rank = 0; rank < ranks; ++rank) {
        Behaviour behaviour;
        // Half a percent of jitter that depends on step and rank only.
        behaviour.compute += (step * 7 + rank * 13) % 5 * model::kMillisecond / 2;
        change(step, rank, &behaviour);
        all = all && behaviour.calls && behaviour.starts && behaviour.ends;
        if (!behaviour.calls) {
          continue;
        }
        model::OperationRecord op;
        op.job = "j";
        op.rank = rank;
        op.communicator = "dp";
        op.sequence = static_cast<std::uint64_t>(step);
        op.name = behaviour.name;
        op.datatype = "float32";
        op.count = behaviour.count;
        op.enqueue = free[rank] + model::kMillisecond + behaviour.host_late;
        if (behaviour.starts) {
          op.start = free[rank] + behaviour.compute + behaviour.host_late;
          if (behaviour.host_late > 0) {
            op.enqueue = op.start - model::kMillisecond;
          }
          last = std::max(last, op.start);
        }
        operations.push_back(op);
      }
      for (model::OperationRecord& op : operations) {
        if (all) {
          op.end = last + transfer;
          free[op.rank] = op.end;
        }
        records.emplace_back(op);
      }
      if (!all) {
        break;
      }
    }
    return records;
  }
};

// All verdicts in their last form, in order of first appearance. `stride`: between watermarks.
inline std::vector<model::Verdict> RunAll(Engine* engine, const std::vector<model::Record>& records,
                                          model::TimeNs until,
                                          model::DurationNs stride = 200 * model::kMillisecond) {
  std::vector<model::Verdict> verdicts;
  for (const model::Record& record : records) {
    engine->Apply(record);
  }
  for (model::TimeNs now = kBegin; now <= until; now += stride) {
    for (const model::Verdict& verdict : engine->Advance(now)) {
      const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                      [&](const auto& other) { return other.id == verdict.id; });
      if (found == verdicts.end()) {
        verdicts.push_back(verdict);
      } else {
        *found = verdict;
      }
    }
  }
  return verdicts;
}

}  // namespace c4::engine::testing
