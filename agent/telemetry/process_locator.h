// Finds the process that wrote a hook file. The file names it as the process sees itself; the agent
// may be in an outer pid namespace, where it has another number. The start time, which is the same
// in every namespace, tells a reused number apart.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace c4::agent {

struct LocatedProcess {
  pid_t pid = 0;    // under proc_root
  uid_t owner = 0;  // its effective user
};

// Nothing when no such process lives. Looks at `pid` first, then at all processes for one that
// calls itself so.
std::optional<LocatedProcess> LocateProcess(const std::string& proc_root, std::int32_t pid,
                                            std::uint64_t start_ticks);

}  // namespace c4::agent
