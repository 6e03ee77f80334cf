// Implementation of interface.h.
#include "tests/nccl_cpu/nccl/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>

#include <cstdlib>
#include <sstream>

#include "tests/nccl_cpu/host_identity.h"
#include "tests/nccl_cpu/nccl/comm_hash.h"

namespace c4::nccl_cpu {

bool MatchesFilter(const std::string& name, const std::string& filter) {
  std::string names = filter;
  bool exclude = false;
  bool exact = false;
  if (!names.empty() && names[0] == '^') {
    exclude = true;
    names.erase(0, 1);
  }
  if (!names.empty() && names[0] == '=') {
    exact = true;
    names.erase(0, 1);
  }
  bool matches = false;
  std::stringstream list(names);
  for (std::string wanted; std::getline(list, wanted, ',');) {
    if (exact ? name == wanted : name.rfind(wanted, 0) == 0) matches = true;
  }
  return matches != exclude;
}

bool ChooseInterface(Interface* chosen) {
  const char* filter = std::getenv("NCCL_SOCKET_IFNAME");
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  bool found = false;
  bool found_loopback = false;
  for (const ifaddrs* at = all; at != nullptr && !found; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_UP) == 0) continue;
    const bool loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
    if (filter != nullptr && !MatchesFilter(at->ifa_name, filter)) continue;
    if (loopback && found_loopback) continue;
    chosen->name = at->ifa_name;
    chosen->address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr;
    // Asked for by name, loopback is as good as any; otherwise it is the last resort.
    found = filter != nullptr || !loopback;
    found_loopback = loopback;
  }
  freeifaddrs(all);
  return found || found_loopback;
}

uint64_t HostHash() {
  struct stat netns {};
  stat("/proc/self/ns/net", &netns);
  return HashBytes(cpu::HostName() + "/" + std::to_string(netns.st_ino));
}

}  // namespace c4::nccl_cpu
