// Which network interface the ranks talk over, and which host this is.
//
// NCCL_SOCKET_IFNAME as in NCCL: a comma-separated list of name prefixes; '=' in front makes the
// names exact, '^' excludes them. Without it: the first interface that is up and not loopback, else
// lo. IPv4 only. Thread: any; no state.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace c4::nccl_cpu {

struct Interface {
  std::string name;
  in_addr address;
};

// False when no interface matches.
bool ChooseInterface(Interface* chosen);
// Whether `name` matches a NCCL_SOCKET_IFNAME filter.
bool MatchesFilter(const std::string& name, const std::string& filter);

// Equal for processes that can reach each other over loopback: same host name (or C4_CPU_NODE) and
// same network namespace.
uint64_t HostHash();

}  // namespace c4::nccl_cpu
