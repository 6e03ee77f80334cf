#include "analyzer/ingest/validate.h"

#include <cmath>
#include <string>
#include <unordered_set>

#include "analyzer/ingest/limits.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

bool HasControlCharacter(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}

// May be empty.
absl::Status CheckWord(std::string_view field, std::string_view word) {
  if (word.size() > limits::kNameBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes, at most {}", field, word.size(), limits::kNameBytesMax));
  }
  if (HasControlCharacter(word)) {
    return absl::InvalidArgumentError(fmt::format("{}: has control characters", field));
  }
  return absl::OkStatus();
}

absl::Status CheckInt(std::string_view field, std::int64_t value, std::int64_t low,
                      std::int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::OutOfRangeError(fmt::format("{}: {} is not in {}…{}", field, value, low, high));
}

absl::Status CheckRank(std::string_view field, int rank) {
  return CheckInt(field, rank, 0, limits::kRanksMax - 1);
}

absl::Status CheckRankOrUnknown(std::string_view field, int rank) {
  return CheckInt(field, rank, -1, limits::kRanksMax - 1);
}

absl::Status CheckTime(std::string_view field, model::TimeNs time) {
  return CheckInt(field, time, 0, limits::kTimeMax);
}

absl::Status CheckNumber(std::string_view field, double value) {
  if (std::isfinite(value)) return absl::OkStatus();
  return absl::OutOfRangeError(fmt::format("{}: not a finite number", field));
}

// At a character boundary, so that the rest stays valid UTF-8.
void CutText(std::string& text, std::size_t bytes_max = limits::kTextBytesMax) {
  if (text.size() <= bytes_max) return;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

absl::Status Check(model::JobRecord& job) {
  C4_RETURN_IF_ERROR(CheckName("job.job", job.job));
  return CheckWord("job.nccl_version", job.nccl_version);
}

absl::Status Check(model::RankRecord& rank) {
  C4_RETURN_IF_ERROR(CheckName("rank.job", rank.job));
  C4_RETURN_IF_ERROR(CheckName("rank.node", rank.node));
  C4_RETURN_IF_ERROR(CheckRank("rank.rank", rank.rank));
  C4_RETURN_IF_ERROR(CheckRankOrUnknown("rank.local_rank", rank.local_rank));
  C4_RETURN_IF_ERROR(CheckInt("rank.world_size", rank.world_size, -1, limits::kRanksMax));
  C4_RETURN_IF_ERROR(CheckRankOrUnknown("rank.gpu", rank.gpu));
  C4_RETURN_IF_ERROR(CheckWord("rank.gpu_uuid", rank.gpu_uuid));
  C4_RETURN_IF_ERROR(CheckWord("rank.pci", rank.pci));
  return CheckWord("rank.nic", rank.nic);
}

absl::Status Check(model::CommunicatorRecord& communicator) {
  C4_RETURN_IF_ERROR(CheckName("comm.job", communicator.job));
  C4_RETURN_IF_ERROR(CheckName("comm.id", communicator.id));
  C4_RETURN_IF_ERROR(CheckWord("comm.name", communicator.name));
  C4_RETURN_IF_ERROR(
      CheckInt("comm.ranks: length", std::ssize(communicator.ranks), 1, limits::kRanksMax));
  std::unordered_set<int> seen;
  for (const int rank : communicator.ranks) {
    C4_RETURN_IF_ERROR(CheckRankOrUnknown("comm.ranks", rank));
    if (rank >= 0 && !seen.insert(rank).second) {
      return absl::OutOfRangeError(fmt::format("comm.ranks: {} is there twice", rank));
    }
  }
  return absl::OkStatus();
}

absl::Status Check(model::OperationRecord& op) {
  C4_RETURN_IF_ERROR(CheckName("op.job", op.job));
  C4_RETURN_IF_ERROR(CheckName("op.comm", op.communicator));
  C4_RETURN_IF_ERROR(CheckName("op.name", op.name));
  C4_RETURN_IF_ERROR(CheckWord("op.dtype", op.datatype));
  C4_RETURN_IF_ERROR(CheckRank("op.rank", op.rank));
  C4_RETURN_IF_ERROR(CheckRankOrUnknown("op.root", op.root));
  C4_RETURN_IF_ERROR(CheckRankOrUnknown("op.peer", op.peer));
  C4_RETURN_IF_ERROR(CheckTime("op.enqueue", op.enqueue));
  const model::TimeNs earliest = op.enqueue - limits::kOperationSlack;
  for (const auto& [field, time] :
       {std::pair{"op.returned", op.returned}, {"op.start", op.start}, {"op.end", op.end}}) {
    C4_RETURN_IF_ERROR(CheckTime(field, time));
    if (time != 0 && time < earliest) {
      return absl::OutOfRangeError(
          fmt::format("{}: {} is more than 1 s before op.enqueue {}", field, time, op.enqueue));
    }
  }
  if (op.start != 0 && op.end != 0 && op.end < op.start) {
    if (op.end < op.start - limits::kOperationSlack) {
      return absl::OutOfRangeError(
          fmt::format("op.end: {} is more than 1 s before op.start {}", op.end, op.start));
    }
    op.end = op.start;  // re-anchoring of the GPU's clock between the two
  }
  return absl::OkStatus();
}

absl::Status Check(model::FlowRecord& flow) {
  C4_RETURN_IF_ERROR(CheckName("flow.job", flow.job));
  C4_RETURN_IF_ERROR(CheckWord("flow.comm", flow.communicator));
  C4_RETURN_IF_ERROR(CheckRank("flow.rank", flow.rank));
  C4_RETURN_IF_ERROR(CheckRankOrUnknown("flow.peer", flow.peer));
  C4_RETURN_IF_ERROR(CheckTime("flow.busy", flow.busy));
  C4_RETURN_IF_ERROR(CheckTime("flow.from", flow.from));
  C4_RETURN_IF_ERROR(CheckTime("flow.to", flow.to));
  return CheckInt("flow.to", flow.to, flow.from, limits::kTimeMax);
}

absl::Status Check(model::EventRecord& event) {
  C4_RETURN_IF_ERROR(CheckName("event.node", event.node));
  C4_RETURN_IF_ERROR(CheckName("event.kind", event.kind));
  C4_RETURN_IF_ERROR(CheckWord("event device", event.device));
  C4_RETURN_IF_ERROR(CheckWord("event.counter", event.counter));
  CutText(event.text);
  return CheckTime("event.time", event.time);
}

absl::Status Check(model::GaugeRecord& gauge) {
  C4_RETURN_IF_ERROR(CheckName("gauge.node", gauge.node));
  C4_RETURN_IF_ERROR(CheckName("gauge.name", gauge.name));
  C4_RETURN_IF_ERROR(CheckWord("gauge.device", gauge.device));
  C4_RETURN_IF_ERROR(CheckNumber("gauge.value", gauge.value));
  return CheckTime("gauge.time", gauge.time);
}

absl::Status Check(model::ProcessRecord& process) {
  C4_RETURN_IF_ERROR(CheckName("process.job", process.job));
  C4_RETURN_IF_ERROR(CheckName("process.state", process.state));
  C4_RETURN_IF_ERROR(CheckRank("process.rank", process.rank));
  return CheckTime("process.time", process.time);
}

absl::Status Check(model::HostStateRecord& host) {
  C4_RETURN_IF_ERROR(CheckName("host_state.job", host.job));
  C4_RETURN_IF_ERROR(CheckWord("host_state.state", host.state));
  C4_RETURN_IF_ERROR(CheckWord("host_state.wchan", host.wchan));
  C4_RETURN_IF_ERROR(CheckRank("host_state.rank", host.rank));
  C4_RETURN_IF_ERROR(CheckNumber("host_state.cpu", host.cpu));
  C4_RETURN_IF_ERROR(CheckNumber("host_state.read_bytes_per_s", host.read_bytes_per_s));
  C4_RETURN_IF_ERROR(CheckNumber("host_state.write_bytes_per_s", host.write_bytes_per_s));
  if (host.stack.size() > limits::kStackFramesMax) host.stack.resize(limits::kStackFramesMax);
  for (std::string& frame : host.stack) CutText(frame, limits::kNameBytesMax);
  return CheckTime("host_state.time", host.time);
}

absl::Status Check(model::ErrorRecord& error) {
  C4_RETURN_IF_ERROR(CheckName("error.job", error.job));
  C4_RETURN_IF_ERROR(CheckRank("error.rank", error.rank));
  CutText(error.text);
  return CheckTime("error.time", error.time);
}

absl::Status Check(model::PhaseRecord& phase) {
  C4_RETURN_IF_ERROR(CheckName("phase.job", phase.job));
  C4_RETURN_IF_ERROR(CheckName("phase.name", phase.name));
  return CheckTime("phase.time", phase.time);
}

absl::Status Check(model::AgentRecord& agent) {
  C4_RETURN_IF_ERROR(CheckName("agent.node", agent.node));
  return CheckTime("agent.time", agent.time);
}

absl::Status Check(model::LossRecord& loss) {
  C4_RETURN_IF_ERROR(CheckName("loss.node", loss.node));
  C4_RETURN_IF_ERROR(CheckWord("loss.job", loss.job));
  C4_RETURN_IF_ERROR(CheckName("loss.cause", loss.cause));
  return CheckRankOrUnknown("loss.rank", loss.rank);
}

}  // namespace

absl::Status CheckName(std::string_view field, std::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError(fmt::format("{}: missing", field));
  return CheckWord(field, name);
}

absl::Status Normalize(model::Record& record) {
  return std::visit([](auto& fact) { return Check(fact); }, record);
}

const char* RejectCause(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "bad_name";
    case absl::StatusCode::kOutOfRange:
      return "out_of_range";
    case absl::StatusCode::kAlreadyExists:
      return "conflict";
    case absl::StatusCode::kPermissionDenied:
      return "foreign";
    case absl::StatusCode::kResourceExhausted:
      return "limit";
    default:
      return "other";
  }
}

}  // namespace c4::ingest
