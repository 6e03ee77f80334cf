// One record of every kind with every field set, for round trips.
#pragma once

#include <limits>
#include <vector>

#include "analyzer/model/trace.h"

namespace c4::ingest {

inline constexpr model::TimeNs kNow = 1'750'000'000'000'000'000;

inline model::OperationRecord FullOperation() {
  return {.job = "j1",
          .rank = 5,
          .incarnation = 2,
          .communicator = "00000000deadbeef",
          .sequence = std::numeric_limits<std::uint64_t>::max(),
          .name = "Broadcast",
          .datatype = "bfloat16",
          .count = 1ULL << 40,
          .root = 3,
          .peer = 1,
          .group = 7,
          .stream = 0xffff'8000'0000'0000,
          .enqueue = kNow,
          .returned = kNow + 1,
          .start = kNow + 2,
          .end = kNow + 3,
          .captured = true,
          .abandoned = true,
          .untimed = true};
}

inline model::JobRecord FullJob() {
  model::JobRecord job;
  job.job = "j1";
  job.restarts = 3;
  job.nccl_version = "2.28.9";
  job.previous_incidents = {
      {"n2", 9, "non_communication_hang", "AllGather", "called, not started", "ncclLocalOpAppend"}};
  job.expected_collective_seconds = 40;
  job.step_offset = {{2, 7}};
  job.steps_done = {{0, 101}, {1, 100}};
  job.cordoned_by = {{"n1", "operator"}};
  job.dry_run = true;
  return job;
}

inline std::vector<model::Record> EveryRecord() {
  return {
      FullJob(),
      model::RankRecord{"j1", 4, 1, "n0", 4, 16, 4242, 4, "GPU-1", "0000:1b:00.0", "mlx5_0"},
      model::CommunicatorRecord{"j1", 1, "tp0", "tensor", {3, 2, -1, 0}},
      FullOperation(),
      model::FlowRecord{"j1", 0, 8, "dp0", 1, 1 << 20, 64, 12'000'000, kNow, kNow + 5, 2},
      model::EventRecord{"n0", kNow, "xid", "0000:1b:00.0", 79, "", 0, "fallen off the bus"},
      model::EventRecord{"n0", kNow, "nic_errors", "mlx5_0", 0, "symbol_error", 12, "to \"n1\" é"},
      model::GaugeRecord{"n0", kNow, "mlx5_0", "rate_gbps", 0.1},
      model::ProcessRecord{"j1", 5, 1, kNow, "exited", 0, 9},
      model::HostStateRecord{"j1", 5, 1, kNow, "D", "nfs_wait", 0.02, 1e9, 0.5, {"main", "read"}},
      model::ErrorRecord{"j1", 5, kNow, "watchdog\ttimeout\n"},
      model::PhaseRecord{"j1", kNow, "checkpoint"},
      model::AgentRecord{"n0", kNow, true},
      model::LossRecord{"n0", "j1", 3, "ring_overwritten", 17},
  };
}

}  // namespace c4::ingest
