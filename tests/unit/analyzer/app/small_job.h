// A training job of eight ranks on two nodes that loses a rank, as its agents tell it.
#pragma once

#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::app {

// One all-reduce per second over all ranks; from kLastGoodStep + 1 on, kVictim is gone.
class SmallJob {
 public:
  static constexpr int kNodes = 2;
  static constexpr int kRanksPerNode = 4;
  static constexpr int kVictim = 6;
  static constexpr int kLastGoodStep = 12;

  explicit SmallJob(model::TimeNs begin) : begin_(begin) {}

  // What the node's agent knows between two moments.
  v1::Batch Batch(int node, std::uint64_t sequence, model::TimeNs from, model::TimeNs to) {
    v1::Batch batch = api::MakeBatch(sequence, to);
    for (int rank = node * kRanksPerNode; rank < (node + 1) * kRanksPerNode; ++rank) {
      if (sequence == 1) {
        api::AddRank(batch, rank);
        v1::Communicator& communicator = *batch.add_communicators();
        communicator.set_job("j1");
        communicator.set_rank(rank);
        communicator.set_id(0xabc);
        communicator.set_member(rank);
        communicator.set_size(kNodes * kRanksPerNode);
      }
      for (int step = 0; step <= kLastGoodStep + 1; ++step) AddStep(batch, rank, step, from, to);
      if (rank == kVictim && Within(Death(), from, to)) AddDeath(batch);
    }
    return batch;
  }

 private:
  static bool Within(model::TimeNs time, model::TimeNs from, model::TimeNs to) {
    return time > from && time <= to;
  }
  model::TimeNs Begin(int step) const { return begin_ + step * model::kSecond; }
  model::TimeNs Death() const { return Begin(kLastGoodStep) + 500 * model::kMillisecond; }

  void AddStep(v1::Batch& batch, int rank, int step, model::TimeNs from, model::TimeNs to) {
    if (rank == kVictim && step > kLastGoodStep) return;
    const model::TimeNs enqueue = Begin(step) + rank * model::kMillisecond;
    const model::TimeNs start = enqueue + model::kMillisecond / 10;
    const model::TimeNs end = Begin(step) + 60 * model::kMillisecond + rank;
    const bool ends = step <= kLastGoodStep;
    if (!Within(enqueue, from, to) && !(ends && Within(end, from, to))) return;
    api::AddOperation(batch, rank, static_cast<std::uint64_t>(step), enqueue);
    v1::Operation& op = *batch.mutable_operations(batch.operations_size() - 1);
    if (start <= to) op.set_start(start);
    if (ends && end <= to) op.set_end(end);
  }
  void AddDeath(v1::Batch& batch) {
    v1::Process& process = *batch.add_processes();
    process.set_job("j1");
    process.set_rank(kVictim);
    process.set_time(Death());
    process.set_state("exited");
    process.set_code(-1);
    process.set_signal(9);
  }

  const model::TimeNs begin_;
};

inline std::string NodeName(int node) { return fmt::format("n{}", node); }

}  // namespace c4::app
