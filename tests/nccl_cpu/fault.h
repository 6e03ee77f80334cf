// The misbehaviour that C4_CPU_FAULT asks of this process, for both stand-in libraries.
//
// Grammar: faults separated by ';', each `name[:key=value]…`, numbers decimal:
//   drop-link:peer=P:after=N   no byte leaves for rank P once N operations were launched
//   stuck-kernel:after=N       the (N+1)-th c4_compute of this process never ends
//   slow-kernel:percent=P:after=N   each c4_compute after N takes P percent longer
// Thread: FaultPlan::FromEnvironment() parses once and is then read-only. What it is not: a place
// for faults the job itself can commit (a late or skipped call): the training program does those.
#pragma once

#include <cstdint>
#include <string_view>

namespace c4::cpu {

struct FaultPlan {
  static constexpr int64_t kNever = -1;

  int drop_link_peer = -1;  // -1: no link is dropped
  int64_t drop_link_after = 0;
  int64_t stuck_kernel_after = kNever;
  int64_t slow_kernel_percent = 0;
  int64_t slow_kernel_after = 0;

  // Unknown names and malformed numbers are ignored: the library must not end a job by itself.
  static FaultPlan Parse(std::string_view text);
  static const FaultPlan& FromEnvironment();
};

}  // namespace c4::cpu
