#include "tests/unit/analyzer/detect/two_level_job.h"

namespace c4::detect::testing {
namespace {

// Everybody of `members` starts and, `transfer` after the last, ends.
double Meet(const std::vector<int>& members, const std::vector<double>& starts, double transfer) {
  double last = 0;
  for (const int member : members) {
    last = std::max(last, starts[member]);
  }
  return last + transfer;
}

}  // namespace

void TwoLevelJob::Record(int rank, const std::string& communicator, std::uint64_t sequence,
                         const std::string& name, double enqueue, double start, double end) {
  if (std::uniform_real_distribution<>(0, 1)(random_) < lost) {
    return;
  }
  model::OperationRecord op;
  op.job = "j";
  op.rank = rank;
  op.communicator = communicator;
  op.sequence = sequence;
  op.name = name;
  op.datatype = "bfloat16";
  op.count = 1 << 20;
  op.enqueue = static_cast<model::TimeNs>(enqueue);
  op.start = static_cast<model::TimeNs>(start);
  op.end = static_cast<model::TimeNs>(end);
  model_.Apply(op);
}

void TwoLevelJob::Step() {
  constexpr double kTransfer = 2 * model::kMillisecond;
  std::normal_distribution<> jitter(1, 0.01);
  std::vector<double> now(free_.begin(), free_.end());
  const std::vector<double> begin = now;
  std::vector<double> stream = now;
  std::vector<double> host = now;
  std::vector<double> starts(kRanks);
  std::vector<double> ends(kRanks);
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int rank = 0; rank < kRanks; ++rank) {
      Work work;
      change(step_, layer, rank, &work);
      // Without a late host, all of the step is enqueued at its begin.
      host[rank] =
          std::max(host[rank], now[rank] * (work.host_late > 0 ? 1 : 0)) + work.host_late + 20e3;
      starts[rank] = now[rank] + work.host_late + work.compute * jitter(random_);
    }
    for (int data = 0; data < kData; ++data) {
      const std::vector<int> members{data * kTensor, data * kTensor + 1};
      const double end = Meet(members, starts, kTransfer);
      for (const int member : members) {
        Record(member, "tp" + std::to_string(data), step_ * kLayers + layer, "AllReduce",
               host[member], starts[member], end);
        now[member] = end;
      }
    }
    for (int tensor = 0; tensor < kTensor; ++tensor) {
      std::vector<int> members;
      std::vector<double> from(kRanks);
      for (int data = 0; data < kData; ++data) {
        members.push_back(data * kTensor + tensor);
        from[members.back()] = std::max(now[members.back()], stream[members.back()]);
      }
      const double end = Meet(members, from, 4 * kTransfer);
      for (const int member : members) {
        Record(member, "dp" + std::to_string(tensor), step_ * kLayers + layer, "ReduceScatter",
               host[member] + 1, from[member], end);
        stream[member] = end;
      }
    }
  }
  std::vector<int> all;
  for (int rank = 0; rank < kRanks; ++rank) {
    starts[rank] = std::max(now[rank], stream[rank]) + model::kMillisecond * jitter(random_);
    all.push_back(rank);
  }
  const double end = Meet(all, starts, kTransfer);
  for (int rank = 0; rank < kRanks; ++rank) {
    Record(rank, "world", step_, "AllReduce", host[rank] + 2, starts[rank], end);
    free_[rank] = static_cast<model::TimeNs>(end);
  }
  ++step_;
}

}  // namespace c4::detect::testing
