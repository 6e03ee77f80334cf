#include "analyzer/ingest/batch_decoder.h"

#include <utility>

#include "analyzer/ingest/limits.h"
#include "analyzer/ingest/trace_json.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

// Strings are moved out of the batch, which nobody needs afterwards.
std::string Take(std::string* field) { return std::move(*field); }

class Decoder {
 public:
  Decoder(const std::string& node, model::TimeNs time_max, DecodedBatch& out)
      : node_(node), time_max_(time_max), out_(out) {}

  // Calls `convert` for each element until the batch's share of records is used up.
  template <typename Field, typename Convert>
  void Each(Field* field, const Convert& convert) {
    for (auto& element : *field) {
      if (taken_ == limits::kRecordsPerBatchMax) {
        out_.rejected.Add(absl::ResourceExhaustedError(
            fmt::format("more than {} records in a batch", limits::kRecordsPerBatchMax)));
        continue;
      }
      ++taken_;
      convert(element);
    }
  }

  // True when the record may be used; refusals are counted.
  bool Accept(model::Record& record) {
    absl::Status status = Normalize(record);
    if (status.ok() && LatestTime(record) > time_max_) {
      status = absl::OutOfRangeError(fmt::format("a time in the future: {}", LatestTime(record)));
    }
    if (!status.ok()) out_.rejected.Add(status);
    return status.ok();
  }

  void Add(model::Record record) {
    if (Accept(record)) out_.records.push_back(std::move(record));
  }

  void AddRank(v1::Rank& rank) {
    model::Record record = model::RankRecord{.job = Take(rank.mutable_job()),
                                             .rank = rank.rank(),
                                             .incarnation = rank.incarnation(),
                                             .node = node_,
                                             .local_rank = rank.local_rank(),
                                             .world_size = rank.world_size(),
                                             .pid = rank.pid(),
                                             .gpu = rank.gpu(),
                                             .gpu_uuid = Take(rank.mutable_gpu_uuid()),
                                             .pci = Take(rank.mutable_pci()),
                                             .nic = Take(rank.mutable_nic())};
    if (!Accept(record)) return;
    out_.ranks.push_back({std::get<model::RankRecord>(std::move(record)), rank.started_at(),
                          NcclVersion(rank.nccl_version())});
  }

  void AddMembership(v1::Communicator& communicator) {
    const absl::Status status = CheckMembership(communicator);
    if (!status.ok()) {
      out_.rejected.Add(status);
      return;
    }
    const std::string& state = communicator.state();
    const bool gone = state == "destroyed" || state == "aborted" || state == "failed";
    out_.memberships.push_back({.job = Take(communicator.mutable_job()),
                                .incarnation = communicator.incarnation(),
                                .rank = communicator.rank(),
                                .id = CommunicatorId(communicator.id()),
                                .name = Take(communicator.mutable_name()),
                                .member = communicator.member(),
                                .size = communicator.size(),
                                .time = communicator.time(),
                                .gone = gone,
                                .async_error = communicator.async_error()});
  }

 private:
  absl::Status CheckMembership(const v1::Communicator& communicator) const {
    C4_RETURN_IF_ERROR(CheckName("communicator.job", communicator.job()));
    if (!communicator.name().empty()) {
      C4_RETURN_IF_ERROR(CheckName("communicator.name", communicator.name()));
    }
    const int size = communicator.size();
    if (size < 1 || size > limits::kRanksMax) {
      return absl::OutOfRangeError(fmt::format("communicator.size: {}", size));
    }
    if (communicator.member() < 0 || communicator.member() >= size) {
      return absl::OutOfRangeError(
          fmt::format("communicator.member: {} of {}", communicator.member(), size));
    }
    if (communicator.rank() < 0 || communicator.rank() >= limits::kRanksMax) {
      return absl::OutOfRangeError(fmt::format("communicator.rank: {}", communicator.rank()));
    }
    if (communicator.time() < 0 || communicator.time() > time_max_) {
      return absl::OutOfRangeError(fmt::format("communicator.time: {}", communicator.time()));
    }
    return absl::OkStatus();
  }

  const std::string& node_;
  const model::TimeNs time_max_;
  DecodedBatch& out_;
  int taken_ = 0;
};

model::OperationRecord ToRecord(v1::Operation& op) {
  return {.job = Take(op.mutable_job()),
          .rank = op.rank(),
          .incarnation = op.incarnation(),
          .communicator = CommunicatorId(op.communicator()),
          .sequence = op.sequence(),
          .name = Take(op.mutable_name()),
          .datatype = Take(op.mutable_datatype()),
          .count = op.count(),
          .root = op.root(),
          .peer = op.peer(),
          .group = op.group(),
          .stream = op.stream(),
          .enqueue = op.enqueue(),
          .returned = op.returned(),
          .start = op.start(),
          .end = op.end(),
          .captured = op.captured(),
          .abandoned = op.abandoned(),
          .untimed = op.untimed()};
}

model::FlowRecord ToRecord(v1::Flow& flow) {
  return {.job = Take(flow.mutable_job()),
          .rank = flow.rank(),
          .peer = flow.peer(),
          .communicator = CommunicatorId(flow.communicator()),
          .channel = flow.channel(),
          .bytes = flow.bytes(),
          .messages = flow.messages(),
          .busy = flow.busy(),
          .from = flow.from(),
          .to = flow.to(),
          .pending = flow.pending()};
}

model::HostStateRecord ToRecord(v1::HostState& host) {
  model::HostStateRecord record{.job = Take(host.mutable_job()),
                                .rank = host.rank(),
                                .incarnation = host.incarnation(),
                                .time = host.time(),
                                .state = Take(host.mutable_state()),
                                .wchan = Take(host.mutable_wchan()),
                                .cpu = host.cpu(),
                                .read_bytes_per_s = host.read_bytes_per_s(),
                                .write_bytes_per_s = host.write_bytes_per_s(),
                                .stack = {}};
  for (std::string& frame : *host.mutable_stack()) {
    if (record.stack.size() == limits::kStackFramesMax) break;
    record.stack.push_back(std::move(frame));
  }
  return record;
}

}  // namespace

DecodedBatch DecodeBatch(v1::Batch&& batch, const std::string& node, model::TimeNs time_max) {
  DecodedBatch out;
  out.sequence = batch.sequence();
  out.size_bytes = batch.ByteSizeLong();
  if (batch.complete_until() > 0 && batch.complete_until() <= time_max) {
    out.complete_until = batch.complete_until();
  }
  out.records.reserve(static_cast<std::size_t>(
      std::min(batch.operations_size() + batch.flows_size(), limits::kRecordsPerBatchMax)));

  Decoder decoder(node, time_max, out);
  decoder.Each(batch.mutable_ranks(), [&](v1::Rank& rank) { decoder.AddRank(rank); });
  decoder.Each(batch.mutable_communicators(),
               [&](v1::Communicator& communicator) { decoder.AddMembership(communicator); });
  decoder.Each(batch.mutable_operations(), [&](v1::Operation& op) { decoder.Add(ToRecord(op)); });
  decoder.Each(batch.mutable_flows(), [&](v1::Flow& flow) { decoder.Add(ToRecord(flow)); });
  decoder.Each(batch.mutable_events(), [&](v1::Event& event) {
    decoder.Add(model::EventRecord{
        node, event.time(), Take(event.mutable_kind()), Take(event.mutable_device()), event.code(),
        Take(event.mutable_counter()), event.delta(), Take(event.mutable_text())});
  });
  decoder.Each(batch.mutable_gauges(), [&](v1::Gauge& gauge) {
    decoder.Add(model::GaugeRecord{node, gauge.time(), Take(gauge.mutable_device()),
                                   Take(gauge.mutable_name()), gauge.value()});
  });
  decoder.Each(batch.mutable_processes(), [&](v1::Process& process) {
    decoder.Add(model::ProcessRecord{
        Take(process.mutable_job()), process.rank(), process.incarnation(), process.time(),
        Take(process.mutable_state()), process.code(), process.signal()});
  });
  decoder.Each(batch.mutable_host_states(),
               [&](v1::HostState& host) { decoder.Add(ToRecord(host)); });
  decoder.Each(batch.mutable_errors(), [&](v1::Error& error) {
    decoder.Add(model::ErrorRecord{Take(error.mutable_job()), error.rank(), error.time(),
                                   Take(error.mutable_text())});
  });
  decoder.Each(batch.mutable_losses(), [&](v1::Loss& loss) {
    decoder.Add(model::LossRecord{node, Take(loss.mutable_job()), loss.rank(),
                                  Take(loss.mutable_cause()), loss.count()});
  });
  return out;
}

std::string CommunicatorId(std::uint64_t id) { return fmt::format("{:016x}", id); }

std::string NcclVersion(std::uint32_t version) {
  if (version == 0) return "";
  // NCCL's own encoding changed with 2.9: before, hundreds are the minor version.
  const std::uint32_t unit = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / unit, version % unit / 100, version % 100);
}

}  // namespace c4::ingest
