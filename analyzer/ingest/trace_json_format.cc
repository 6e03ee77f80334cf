// The writing half of trace_json.h.
#include <algorithm>

#include "analyzer/ingest/job_extras.h"
#include "analyzer/ingest/trace_json.h"
#include "nlohmann/json.hpp"

namespace c4::ingest {
namespace {

// Keys in the order of docs/TRACE_FORMAT.md: people read these lines.
using Json = nlohmann::ordered_json;

// Optional keys appear only when they say something.
template <typename Value>
void Put(Json& body, const char* key, const Value& value, const Value& silent) {
  if (value != silent) body[key] = value;
}
void PutText(Json& body, const char* key, const std::string& text) {
  if (!text.empty()) body[key] = text;
}
void PutIncarnation(Json& body, std::uint32_t incarnation) {
  Put(body, "incarnation", incarnation, 0U);
}

std::pair<const char*, Json> Line(const model::JobRecord& job) {
  Json body = {{"job", job.job}, {"restarts", job.restarts}};
  PutText(body, "nccl_version", job.nccl_version);
  WriteJobExtras(job, body);
  return {"job", body};
}

std::pair<const char*, Json> Line(const model::RankRecord& rank) {
  Json body = {{"job", rank.job}, {"rank", rank.rank}, {"node", rank.node}};
  PutIncarnation(body, rank.incarnation);
  Put(body, "local_rank", rank.local_rank, -1);
  Put(body, "world_size", rank.world_size, -1);
  Put(body, "pid", rank.pid, 0);
  Put(body, "gpu", rank.gpu, -1);
  PutText(body, "gpu_uuid", rank.gpu_uuid);
  PutText(body, "pci", rank.pci);
  PutText(body, "nic", rank.nic);
  return {"rank", body};
}

std::pair<const char*, Json> Line(const model::CommunicatorRecord& communicator) {
  Json body = {{"job", communicator.job}, {"id", communicator.id}};
  PutIncarnation(body, communicator.incarnation);
  PutText(body, "name", communicator.name);
  body["ranks"] = communicator.ranks;
  return {"comm", body};
}

std::pair<const char*, Json> Line(const model::OperationRecord& op) {
  Json body = {{"job", op.job}, {"rank", op.rank}};
  PutIncarnation(body, op.incarnation);
  body["comm"] = op.communicator;
  body["seq"] = op.sequence;
  body["name"] = op.name;
  body["dtype"] = op.datatype;
  body["count"] = op.count;
  body["root"] = op.root;
  body["peer"] = op.peer;
  body["group"] = op.group;
  Put(body, "stream", op.stream, std::uint64_t{0});
  Put(body, "enqueue", op.enqueue, model::TimeNs{0});
  Put(body, "returned", op.returned, model::TimeNs{0});
  Put(body, "start", op.start, model::TimeNs{0});
  Put(body, "end", op.end, model::TimeNs{0});
  Put(body, "captured", op.captured, false);
  Put(body, "abandoned", op.abandoned, false);
  Put(body, "untimed", op.untimed, false);
  return {"op", body};
}

std::pair<const char*, Json> Line(const model::FlowRecord& flow) {
  return {"flow",
          {{"job", flow.job},
           {"rank", flow.rank},
           {"peer", flow.peer},
           {"comm", flow.communicator},
           {"channel", flow.channel},
           {"bytes", flow.bytes},
           {"messages", flow.messages},
           {"busy", flow.busy},
           {"from", flow.from},
           {"to", flow.to},
           {"pending", flow.pending}}};
}

// A GPU is named by its PCI id ("0000:1b:00.0"), anything else is a NIC.
bool IsPciId(const std::string& device) {
  return std::count(device.begin(), device.end(), ':') == 2 && device.find('/') == device.npos;
}

std::pair<const char*, Json> Line(const model::EventRecord& event) {
  Json body = {{"node", event.node}, {"time", event.time}, {"kind", event.kind}};
  PutText(body, IsPciId(event.device) ? "gpu" : "nic", event.device);
  Put(body, "code", event.code, std::int64_t{0});
  PutText(body, "counter", event.counter);
  Put(body, "delta", event.delta, std::int64_t{0});
  PutText(body, "text", event.text);
  return {"event", body};
}

std::pair<const char*, Json> Line(const model::GaugeRecord& gauge) {
  return {"gauge",
          {{"node", gauge.node},
           {"time", gauge.time},
           {"device", gauge.device},
           {"name", gauge.name},
           {"value", gauge.value}}};
}

std::pair<const char*, Json> Line(const model::ProcessRecord& process) {
  Json body = {{"job", process.job}, {"rank", process.rank}};
  PutIncarnation(body, process.incarnation);
  body["time"] = process.time;
  body["state"] = process.state;
  Put(body, "code", process.code, -1);
  Put(body, "signal", process.signal, 0);
  return {"process", body};
}

std::pair<const char*, Json> Line(const model::HostStateRecord& host) {
  Json body = {{"job", host.job}, {"rank", host.rank}};
  PutIncarnation(body, host.incarnation);
  body["time"] = host.time;
  body["state"] = host.state;
  body["cpu"] = host.cpu;
  body["wchan"] = host.wchan;
  body["read_bytes_per_s"] = host.read_bytes_per_s;
  body["write_bytes_per_s"] = host.write_bytes_per_s;
  body["stack"] = host.stack;
  return {"host_state", body};
}

std::pair<const char*, Json> Line(const model::ErrorRecord& error) {
  return {"error",
          {{"job", error.job}, {"rank", error.rank}, {"time", error.time}, {"text", error.text}}};
}

std::pair<const char*, Json> Line(const model::PhaseRecord& phase) {
  return {"phase", {{"job", phase.job}, {"time", phase.time}, {"name", phase.name}}};
}

std::pair<const char*, Json> Line(const model::AgentRecord& agent) {
  return {"agent", {{"node", agent.node}, {"time", agent.time}, {"silent", agent.silent}}};
}

std::pair<const char*, Json> Line(const model::LossRecord& loss) {
  Json body = {{"node", loss.node}};
  PutText(body, "job", loss.job);
  Put(body, "rank", loss.rank, -1);
  body["cause"] = loss.cause;
  body["count"] = loss.count;
  return {"loss", body};
}

std::string Dump(const Json& line) {
  // Strings are UTF-8 by contract; what is not is replaced rather than thrown about.
  return line.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

struct Latest {
  model::TimeNs operator()(const model::OperationRecord& op) const {
    return std::max({op.enqueue, op.returned, op.start, op.end});
  }
  model::TimeNs operator()(const model::FlowRecord& flow) const { return flow.to; }
  template <typename Fact>
  model::TimeNs operator()(const Fact& fact) const {
    if constexpr (requires { fact.time; }) {
      return fact.time;
    } else {
      return 0;
    }
  }
};

}  // namespace

std::string FormatTraceLine(const model::Record& record) {
  return std::visit(
      [](const auto& fact) {
        auto [key, body] = Line(fact);
        Json line;
        line[key] = std::move(body);
        return Dump(line);
      },
      record);
}

std::string FormatTraceLine(Watermark watermark) {
  return Dump({{"clock", {{"time", watermark.time}}}});
}

std::string FormatTraceLine(TraceVersion version) { return Dump({{"c4_trace", version.version}}); }

std::string FormatNoteLine(std::string_view text) { return Dump({{"note", {{"text", text}}}}); }

model::TimeNs LatestTime(const model::Record& record) { return std::visit(Latest{}, record); }

}  // namespace c4::ingest
