// Creates the shared-memory file of this process and maps it. Called once per process, at the first
// communicator, never on a collective's path. Any failure leaves nothing behind and returns false:
// the job runs on without being recorded.
#pragma once

#include <cstdint>

#include "common/abi/enums.h"
#include "common/abi/layout.h"
#include "nccl_hook/identity.h"

namespace c4::hook {

struct RunFile {
  abi::Header* header = nullptr;
  abi::CommunicatorRecord* communicators = nullptr;
  abi::OperationRecord* operations = nullptr;
  abi::FlowRecord* flows = nullptr;
};

// Creates `<directory>/<pid>-<start>.c4` and fills the header except `state`, which stays
// kStarting: the caller completes what else it knows and then calls PublishRunFile. `directory`
// null: /run/c4 where that is writable, else /tmp/c4-<uid>.
bool CreateRunFile(const char* directory, const Identity& identity, RunFile* file);

// The header is complete: readers may look.
void PublishRunFile(RunFile* file);

// Field 22 of the text of /proc/<pid>/stat: start time in clock ticks since boot. 0: not found.
// The second field may contain spaces and brackets.
std::uint64_t ParseStartTicks(const char* stat);

}  // namespace c4::hook
