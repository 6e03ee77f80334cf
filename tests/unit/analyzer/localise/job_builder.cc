#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {

JobBuilder::JobBuilder(int nodes, int per_node, bool steady) : job_("j", 0) {
  std::vector<int> members;
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    model::RankRecord record;
    record.job = "j";
    record.rank = rank;
    record.node = "n" + std::to_string(rank / per_node);
    record.gpu = record.local_rank = rank % per_node;
    record.pci = Pci(rank % per_node);
    record.nic = "mlx5_" + std::to_string(rank % per_node);
    record.pid = 4000 + rank;
    Rank(record);
    members.push_back(rank);
  }
  ranks_ = members;
  Communicator("W", members);
  if (steady) {
    for (; next_ < 4; ++next_) {
      Collective("W", next_,
                 {1.0 + static_cast<double>(next_), 1.1 + static_cast<double>(next_),
                  1.5 + static_cast<double>(next_)});
    }
  }
}

JobBuilder& JobBuilder::Op(int rank, const std::string& communicator, std::uint64_t sequence,
                           Times times, const std::string& name, std::uint64_t count) {
  model::OperationRecord op;
  op.job = "j";
  op.rank = rank;
  op.communicator = communicator;
  op.sequence = sequence;
  op.name = name;
  op.datatype = "float32";
  op.count = count;
  op.enqueue = At(times.enqueue);
  op.start = times.start < 0 ? 0 : At(times.start);
  op.end = times.end < 0 ? 0 : At(times.end);
  job_.Apply(op);
  return *this;
}

JobBuilder& JobBuilder::Flow(int rank, int peer, double to, std::uint64_t bytes,
                             double busy_seconds, std::uint64_t pending) {
  model::FlowRecord flow{"j", rank, peer, "W", 0, bytes, 64, 0, At(to - 1), At(to), pending};
  flow.busy = static_cast<model::DurationNs>(busy_seconds * 1e9);
  facts_.Apply(flow);
  return *this;
}

model::Finding JobBuilder::Diagnose(double seconds, bool startup) {
  const auto found = LocaliseHang(Now(seconds), {At(6), At(startup ? 36 : 11), startup});
  return found.empty() ? model::Finding{} : found.front();
}

}  // namespace c4::localise::testing
