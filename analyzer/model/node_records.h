// Facts about a node rather than about a rank of a job; part of the vocabulary of trace.h, with the
// same conventions.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/model/time.h"

namespace c4::model {

struct EventRecord {
  std::string node;
  TimeNs time = 0;
  std::string kind;
  std::string device;  // gpu (PCI id) or nic of the trace line
  std::int64_t code = 0;
  std::string counter;
  std::int64_t delta = 0;
  std::string text;
};

struct GaugeRecord {
  std::string node;
  TimeNs time = 0;
  std::string device;
  std::string name;
  double value = 0;
};

// A node's agent went silent (silent = true) or came back. Live only.
struct AgentRecord {
  std::string node;
  TimeNs time = 0;
  bool silent = false;
};

// Records known to be missing; totals that only grow, per (node, job, rank, cause).
struct LossRecord {
  std::string node;
  std::string job;
  int rank = -1;
  std::string cause;
  std::uint64_t count = 0;
};

}  // namespace c4::model
