#include "analyzer/ingest/trace_json.h"

#include <algorithm>
#include <array>

#include "analyzer/ingest/job_extras.h"
#include "analyzer/ingest/json_fields.h"
#include "analyzer/ingest/limits.h"
#include "analyzer/ingest/validate.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

using nlohmann::json;

model::Record ParseJob(JsonFields& in) {
  model::JobRecord job;
  job.job = in.String("job");
  job.restarts = in.Int<std::uint32_t>("restarts", 0);
  job.nccl_version = in.String("nccl_version", "");
  ReadJobExtras(in.object(), job);
  return job;
}

model::Record ParseRank(JsonFields& in) {
  model::RankRecord rank;
  rank.job = in.String("job");
  rank.rank = in.Int<int>("rank");
  rank.incarnation = in.Int<std::uint32_t>("incarnation", 0);
  rank.node = in.String("node");
  rank.local_rank = in.Int<int>("local_rank", -1);
  rank.world_size = in.Int<int>("world_size", -1);
  rank.pid = in.Int<int>("pid", 0);
  rank.gpu = in.Int<int>("gpu", -1);
  rank.gpu_uuid = in.String("gpu_uuid", "");
  rank.pci = in.String("pci", "");
  rank.nic = in.String("nic", "");
  return rank;
}

model::Record ParseCommunicator(JsonFields& in) {
  model::CommunicatorRecord communicator;
  communicator.job = in.String("job");
  communicator.incarnation = in.Int<std::uint32_t>("incarnation", 0);
  communicator.id = in.String("id");
  communicator.name = in.String("name", "");
  communicator.ranks = in.Ints("ranks", limits::kRanksMax);
  return communicator;
}

model::Record ParseOperation(JsonFields& in) {
  model::OperationRecord op;
  op.job = in.String("job");
  op.rank = in.Int<int>("rank");
  op.incarnation = in.Int<std::uint32_t>("incarnation", 0);
  op.communicator = in.String("comm");
  op.sequence = in.Int<std::uint64_t>("seq");
  op.name = in.String("name");
  op.datatype = in.String("dtype", "");
  op.count = in.Int<std::uint64_t>("count", 0);
  op.root = in.Int<int>("root", -1);
  op.peer = in.Int<int>("peer", -1);
  op.group = in.Int<std::uint32_t>("group", 0);
  op.stream = in.Int<std::uint64_t>("stream", 0);
  op.enqueue = in.Int<model::TimeNs>("enqueue", 0);
  op.returned = in.Int<model::TimeNs>("returned", 0);
  op.start = in.Int<model::TimeNs>("start", 0);
  op.end = in.Int<model::TimeNs>("end", 0);
  op.captured = in.Bool("captured");
  op.abandoned = in.Bool("abandoned");
  op.untimed = in.Bool("untimed");
  return op;
}

model::Record ParseFlow(JsonFields& in) {
  model::FlowRecord flow;
  flow.job = in.String("job");
  flow.rank = in.Int<int>("rank");
  flow.peer = in.Int<int>("peer", -1);
  flow.communicator = in.String("comm", "");
  flow.channel = in.Int<int>("channel", 0);
  flow.bytes = in.Int<std::uint64_t>("bytes", 0);
  flow.messages = in.Int<std::uint64_t>("messages", 0);
  flow.busy = in.Int<model::DurationNs>("busy", 0);
  flow.from = in.Int<model::TimeNs>("from");
  flow.to = in.Int<model::TimeNs>("to");
  flow.pending = in.Int<std::uint64_t>("pending", 0);
  return flow;
}

model::Record ParseEvent(JsonFields& in) {
  model::EventRecord event;
  event.node = in.String("node");
  event.time = in.Int<model::TimeNs>("time");
  event.kind = in.String("kind");
  // Which key names the device depends on the kind; a line has one of them.
  event.device = in.String("gpu", "");
  if (event.device.empty()) event.device = in.String("nic", "");
  if (event.device.empty()) event.device = in.String("device", "");
  event.code = in.Int<std::int64_t>("code", 0);
  event.counter = in.String("counter", "");
  event.delta = in.Int<std::int64_t>("delta", 0);
  event.text = in.String("text", "");
  return event;
}

model::Record ParseGauge(JsonFields& in) {
  model::GaugeRecord gauge;
  gauge.node = in.String("node");
  gauge.time = in.Int<model::TimeNs>("time");
  gauge.device = in.String("device", "");
  gauge.name = in.String("name");
  gauge.value = in.Number("value");
  return gauge;
}

model::Record ParseProcess(JsonFields& in) {
  model::ProcessRecord process;
  process.job = in.String("job");
  process.rank = in.Int<int>("rank");
  process.incarnation = in.Int<std::uint32_t>("incarnation", 0);
  process.time = in.Int<model::TimeNs>("time");
  process.state = in.String("state");
  process.code = in.Int<int>("code", -1);
  process.signal = in.Int<int>("signal", 0);
  return process;
}

model::Record ParseHostState(JsonFields& in) {
  model::HostStateRecord host;
  host.job = in.String("job");
  host.rank = in.Int<int>("rank");
  host.incarnation = in.Int<std::uint32_t>("incarnation", 0);
  host.time = in.Int<model::TimeNs>("time");
  host.state = in.String("state", "");
  host.wchan = in.String("wchan", "");
  host.cpu = in.Number("cpu", 0);
  host.read_bytes_per_s = in.Number("read_bytes_per_s", 0);
  host.write_bytes_per_s = in.Number("write_bytes_per_s", 0);
  host.stack = in.Strings("stack", limits::kStackFramesMax);
  return host;
}

model::Record ParseError(JsonFields& in) {
  model::ErrorRecord error;
  error.job = in.String("job");
  error.rank = in.Int<int>("rank");
  error.time = in.Int<model::TimeNs>("time");
  error.text = in.String("text", "");
  return error;
}

model::Record ParsePhase(JsonFields& in) {
  model::PhaseRecord phase;
  phase.job = in.String("job");
  phase.time = in.Int<model::TimeNs>("time");
  phase.name = in.String("name");
  return phase;
}

model::Record ParseAgent(JsonFields& in) {
  model::AgentRecord agent;
  agent.node = in.String("node");
  agent.time = in.Int<model::TimeNs>("time");
  agent.silent = in.Bool("silent");
  return agent;
}

model::Record ParseLoss(JsonFields& in) {
  model::LossRecord loss;
  loss.node = in.String("node");
  loss.job = in.String("job", "");
  loss.rank = in.Int<int>("rank", -1);
  loss.cause = in.String("cause");
  loss.count = in.Int<std::uint64_t>("count");
  return loss;
}

struct Kind {
  const char* key;
  model::Record (*parse)(JsonFields&);
};

// Most frequent first: the table is searched from the top.
constexpr std::array kKinds = {
    Kind{"op", ParseOperation},    Kind{"flow", ParseFlow},
    Kind{"gauge", ParseGauge},     Kind{"host_state", ParseHostState},
    Kind{"process", ParseProcess}, Kind{"event", ParseEvent},
    Kind{"rank", ParseRank},       Kind{"comm", ParseCommunicator},
    Kind{"error", ParseError},     Kind{"phase", ParsePhase},
    Kind{"job", ParseJob},         Kind{"agent", ParseAgent},
    Kind{"loss", ParseLoss},
};

absl::StatusOr<TraceLine> ParseRecord(const Kind& kind, const json& body) {
  if (!body.is_object()) {
    return absl::InvalidArgumentError(fmt::format("{}: not an object", kind.key));
  }
  JsonFields fields(kind.key, body);
  model::Record record = kind.parse(fields);
  C4_RETURN_IF_ERROR(fields.status());
  C4_RETURN_IF_ERROR(Normalize(record));
  return TraceLine(std::move(record));
}

absl::StatusOr<TraceLine> ParseClock(const json& body) {
  if (!body.is_object()) return absl::InvalidArgumentError("clock: not an object");
  JsonFields fields("clock", body);
  const Watermark watermark{fields.Int<model::TimeNs>("time")};
  C4_RETURN_IF_ERROR(fields.status());
  if (watermark.time < 0 || watermark.time > limits::kTimeMax) {
    return absl::OutOfRangeError(
        fmt::format("clock.time: {} is not in 0…{}", watermark.time, limits::kTimeMax));
  }
  return TraceLine(watermark);
}

absl::StatusOr<TraceLine> ParseVersion(const json& body) {
  const auto* version = body.get_ptr<const json::number_unsigned_t*>();
  if (version == nullptr || *version < 1 || *version > 1'000'000) {
    return absl::InvalidArgumentError("c4_trace: not a version number");
  }
  return TraceLine(TraceVersion{static_cast<int>(*version)});
}

}  // namespace

absl::StatusOr<TraceLine> ParseTraceLine(std::string_view line) {
  if (line.size() > limits::kLineBytesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("{} bytes, at most {}", line.size(), limits::kLineBytesMax));
  }
  const json object = json::parse(line.begin(), line.end(), /*cb=*/nullptr,
                                  /*allow_exceptions=*/false);
  if (object.is_discarded()) return absl::InvalidArgumentError("not JSON");
  if (!object.is_object() || object.empty()) {
    return absl::InvalidArgumentError("not an object with a key");
  }
  for (const Kind& kind : kKinds) {
    if (const auto body = object.find(kind.key); body != object.end()) {
      return ParseRecord(kind, *body);
    }
  }
  if (const auto body = object.find("clock"); body != object.end()) return ParseClock(*body);
  if (const auto body = object.find("c4_trace"); body != object.end()) return ParseVersion(*body);
  return TraceLine(UnknownLine{object.begin().key()});
}

}  // namespace c4::ingest
