// What the engine concludes: a claim about someone's hardware or program, with its reasons.
//
// Plain values. The words (class, kind, …) are those of docs/DETECTION.md and of the JSON output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/trace.h"

namespace c4::model {

namespace verdict_class {
inline constexpr char kCommunicationHang[] = "communication_hang";
inline constexpr char kNonCommunicationHang[] = "non_communication_hang";
inline constexpr char kMismatchedCollective[] = "mismatched_collective";
inline constexpr char kProcessFailure[] = "process_failure";
inline constexpr char kCommunicationSlow[] = "communication_slow";
inline constexpr char kNonCommunicationSlow[] = "non_communication_slow";
}  // namespace verdict_class

namespace component_kind {
inline constexpr char kGpu[] = "gpu";
inline constexpr char kNic[] = "nic";
inline constexpr char kLink[] = "link";
inline constexpr char kNode[] = "node";
inline constexpr char kRank[] = "rank";
inline constexpr char kNetwork[] = "network";
inline constexpr char kSoftware[] = "software";
inline constexpr char kConfig[] = "config";
inline constexpr char kUnknown[] = "unknown";
}  // namespace component_kind

namespace action {
inline constexpr char kIsolate[] = "isolate";
inline constexpr char kRestart[] = "restart";
inline constexpr char kIsolateRestart[] = "isolate+restart";
inline constexpr char kAlert[] = "alert";
inline constexpr char kWait[] = "wait";
inline constexpr char kNone[] = "none";
}  // namespace action

enum class Severity { kInfo, kFault };
enum class Status { kSuspected, kConfirmed, kResolved };

struct Component {
  std::string kind = component_kind::kUnknown;
  std::string node;
  std::optional<int> rank;
  std::optional<int> gpu;
  std::string pci;
  std::string nic;
  std::optional<int> peer_rank;
  std::string peer_node;
  std::string peer_nic;
  std::string communicator;

  bool operator==(const Component&) const = default;
};

struct Suspect {
  Component component;
  double score = 0;
};

struct Evidence {
  std::string source;  // collectives | wait_graph | hardware | process | host | flow
  TimeNs time = 0;
  std::string text;
  double value = 0;
  std::string unit;  // empty: no value
};

struct Verdict {
  std::string id;
  std::string job;
  std::uint32_t incarnation = 0;
  std::string verdict_class;
  Severity severity = Severity::kFault;
  Status status = Status::kSuspected;
  Component component;
  std::vector<Suspect> suspects;
  double confidence = 0;
  TimeNs onset = 0;
  TimeNs detected = 0;
  TimeNs confirmed = 0;
  TimeNs acted = 0;
  TimeNs resolved = 0;
  std::string action = action::kNone;
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<std::string> weakened_by;
  std::vector<int> victims;
};

struct JobSummary {
  std::string name;
  std::uint32_t incarnation = 0;
  std::string state;  // starting | running | stalled | ended
  int ranks = 0;
  int world_size = -1;
  int nodes = 0;
  int communicators = 0;
  std::uint64_t collectives = 0;
  std::uint64_t lost = 0;
  DurationNs step = 0;  // period of the rhythm; 0: none found
  std::uint64_t steps = 0;
  TimeNs first_seen = 0;
  TimeNs last_progress = 0;
  int verdicts_open = 0;
};

}  // namespace c4::model
