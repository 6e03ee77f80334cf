// What both stand-in libraries call "the host": C4_CPU_NODE where it is set (several simulated
// nodes on one machine), else the host name. Thread: any; no state.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace c4::cpu {

inline std::string HostName() {
  if (const char* node = std::getenv("C4_CPU_NODE"); node != nullptr && *node != '\0') return node;
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

}  // namespace c4::cpu
