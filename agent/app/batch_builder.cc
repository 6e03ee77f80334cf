#include "agent/app/batch_builder.h"

#include <algorithm>
#include <utility>

#include "agent/app/clean_text.h"
#include "agent/app/words.h"
#include "agent/limits.h"

namespace c4::agent {
namespace {

template <typename Record>
void SetKey(const RankKey& key, Record* record) {
  record->set_job(key.job);
  record->set_rank(key.rank);
  record->set_incarnation(key.incarnation);
}

int ControlRecords(const v1::Batch& batch) {
  return batch.ranks_size() + batch.communicators_size() + batch.flows_size() +
         batch.events_size() + batch.gauges_size() + batch.processes_size() +
         batch.host_states_size() + batch.errors_size() + batch.losses_size();
}

}  // namespace

void BatchBuilder::AddRank(const RankKey& key, const FileIdentity& identity, std::int32_t pid,
                           const std::string& nic) {
  v1::Rank* const rank = control()->add_ranks();
  SetKey(key, rank);
  rank->set_local_rank(identity.local_rank);
  rank->set_world_size(identity.world_size);
  rank->set_pid(pid);
  rank->set_gpu(identity.device);
  rank->set_gpu_uuid(CleanText(identity.gpu_uuid));
  rank->set_pci(CleanText(identity.gpu_pci));
  rank->set_nic(CleanText(nic));
  rank->set_command(CleanText(identity.command));
  rank->set_nccl_version(identity.nccl_version);
  rank->set_timing(TimingName(identity.timing_mode));
  rank->set_started_at(std::max<std::int64_t>(0, time_.Unix(identity.created_ns)));
}

void BatchBuilder::AddCommunicator(const RankKey& key, const CommunicatorInfo& communicator) {
  v1::Communicator* const out = control()->add_communicators();
  SetKey(key, out);
  out->set_id(communicator.id);
  out->set_nccl_hash(communicator.nccl_hash);
  out->set_parent_id(communicator.parent_id);
  out->set_member(communicator.member);
  out->set_size(communicator.size);
  out->set_name(CleanText(communicator.name));
  out->set_state(StateName(communicator.state));
  out->set_time(std::max<std::int64_t>(0, time_.Unix(communicator.changed_ns)));
  out->set_async_error(communicator.async_error);
}

void BatchBuilder::AddOperation(const RankKey& key, const OperationInfo& operation) {
  if (static_cast<std::size_t>(operations_.operations_size()) >= kOperationsPerBatch) Seal();
  v1::Operation* const out = operations_.add_operations();
  SetKey(key, out);
  out->set_communicator(operation.communicator);
  out->set_sequence(operation.sequence);
  out->set_name(OperationName(operation.kind));
  out->set_datatype(DatatypeName(operation.datatype));
  out->set_count(operation.count);
  out->set_root(operation.root);
  out->set_peer(operation.peer);
  out->set_group(operation.group);
  out->set_stream(operation.stream);
  out->set_enqueue(time_.Unix(operation.enqueue_ns));
  out->set_returned(time_.Unix(operation.return_ns));
  out->set_start(time_.Unix(operation.start_ns));
  out->set_end(time_.Unix(operation.end_ns));
  out->set_result(operation.result);
  out->set_captured((operation.flags & abi::kOperationCaptured) != 0);
  // One that NCCL refused after it was reported will never run either.
  out->set_abandoned((operation.flags & (abi::kOperationAbandoned | abi::kOperationFailed)) != 0);
  out->set_untimed((operation.flags & abi::kOperationUntimed) != 0);
  if (oldest_enqueue_ns_ == 0 || operation.enqueue_ns < oldest_enqueue_ns_) {
    oldest_enqueue_ns_ = operation.enqueue_ns;
  }
  Count(key);
}

void BatchBuilder::AddRunning(const RankKey& key, std::int64_t time_ns) {
  v1::Process* const process = control()->add_processes();
  SetKey(key, process);
  process->set_time(time_.Unix(time_ns));
  process->set_state("running");
  process->set_code(-1);
}

void BatchBuilder::AddExited(const RankKey& key, std::int64_t time_ns, const ExitStatus& status) {
  v1::Process* const process = control()->add_processes();
  SetKey(key, process);
  process->set_time(time_.Unix(time_ns));
  process->set_state("exited");
  process->set_code(status.code);
  process->set_signal(status.signal);
}

void BatchBuilder::AddError(const RankKey& key, std::int64_t time_ns, const std::string& text) {
  v1::Error* const error = control()->add_errors();
  error->set_job(key.job);
  error->set_rank(key.rank);
  error->set_time(time_.Unix(time_ns));
  error->set_text(CleanText(text));
}

void BatchBuilder::AddLoss(const std::string& job, std::int32_t rank, const std::string& cause,
                           std::uint64_t count) {
  v1::Loss* const loss = control()->add_losses();
  loss->set_job(job);
  loss->set_rank(rank);
  loss->set_cause(cause);
  loss->set_count(count);
}

std::vector<Payload> BatchBuilder::Take(std::int64_t complete_until_ns,
                                        std::int64_t partial_until_ns) {
  Seal();
  for (Payload& payload : sealed_) {
    payload.complete_until_ns = partial_until_ns;
  }
  sealed_.back().complete_until_ns = complete_until_ns;
  oldest_enqueue_ns_ = 0;
  return std::exchange(sealed_, {});
}

void BatchBuilder::Seal() {
  Payload& payload = sealed_.emplace_back();
  payload.control_records = static_cast<std::uint64_t>(ControlRecords(control_));
  control_.SerializeToString(&payload.control);
  operations_.SerializeToString(&payload.operations);
  payload.operation_counts = std::exchange(counts_, {});
  // Clear() keeps the memory of the records.
  control_.Clear();
  operations_.Clear();
  control_records_ = 0;
}

void BatchBuilder::Count(const RankKey& key) {
  // Operations come rank by rank.
  if (counts_.empty() || counts_.back().rank != key.rank || counts_.back().job != key.job) {
    counts_.push_back({key.job, key.rank, 0});
  }
  ++counts_.back().count;
}

}  // namespace c4::agent
