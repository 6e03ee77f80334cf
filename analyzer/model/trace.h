// The facts that the analyzer reasons about: one struct per line type of the trace format
// (docs/TRACE_FORMAT.md). Live ingest, trace files and tests all produce these; the engine consumes
// nothing else.
//
// Plain values, no behaviour. Times are int64 nanoseconds since the epoch on the clock of the node
// that saw the fact; 0 is "has not happened". Validated by whoever produces them (see
// analyzer/ingest), so consumers may rely on: non-empty job, rank >= 0, member lists without
// duplicates, start and end either 0 or >= enqueue - 1 s.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/model/job_record.h"
#include "analyzer/model/node_records.h"
#include "analyzer/model/time.h"

namespace c4::model {

struct RankRecord {
  std::string job;
  int rank = -1;
  std::uint32_t incarnation = 0;
  std::string node;
  int local_rank = -1;
  int world_size = -1;  // -1: unknown
  int pid = 0;
  int gpu = -1;  // CUDA ordinal; -1: unknown
  std::string gpu_uuid;
  std::string pci;
  std::string nic;
};

// Full membership, position is the rank in the communicator. Live, members become known one by
// one: -1 stands for a member not heard of yet, and a later record with the same id completes it.
struct CommunicatorRecord {
  std::string job;
  std::uint32_t incarnation = 0;
  std::string id;
  std::string name;
  std::vector<int> ranks;
};

struct OperationRecord {
  std::string job;
  int rank = -1;
  std::uint32_t incarnation = 0;
  std::string communicator;
  std::uint64_t sequence = 0;
  std::string name;  // AllReduce, Send, …
  std::string datatype;
  std::uint64_t count = 0;
  int root = -1;
  int peer = -1;  // rank in the communicator
  std::uint32_t group = 0;
  std::uint64_t stream = 0;  // 0: unknown
  TimeNs enqueue = 0;
  TimeNs returned = 0;  // 0: still inside, or unknown (traces do not carry it)
  TimeNs start = 0;
  TimeNs end = 0;
  bool captured = false;
  bool abandoned = false;
  bool untimed = false;
};

struct FlowRecord {
  std::string job;
  int rank = -1;
  int peer = -1;  // global rank
  std::string communicator;
  int channel = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  DurationNs busy = 0;
  TimeNs from = 0;
  TimeNs to = 0;
  std::uint64_t pending = 0;
};

struct ProcessRecord {
  std::string job;
  int rank = -1;
  std::uint32_t incarnation = 0;
  TimeNs time = 0;
  std::string state;  // running | exited
  int code = -1;      // -1: unknown
  int signal = 0;
};

struct HostStateRecord {
  std::string job;
  int rank = -1;
  std::uint32_t incarnation = 0;
  TimeNs time = 0;
  std::string state;
  std::string wchan;
  double cpu = 0;
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  std::vector<std::string> stack;
};

struct ErrorRecord {
  std::string job;
  int rank = -1;
  TimeNs time = 0;
  std::string text;
};

struct PhaseRecord {
  std::string job;
  TimeNs time = 0;
  std::string name;
};

using Record = std::variant<JobRecord, RankRecord, CommunicatorRecord, OperationRecord, FlowRecord,
                            EventRecord, GaugeRecord, ProcessRecord, HostStateRecord, ErrorRecord,
                            PhaseRecord, AgentRecord, LossRecord>;

}  // namespace c4::model
