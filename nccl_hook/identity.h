// Who this process is: job, rank, world, node and restart, read from what launchers put into the
// environment. Pure functions over a getter, so that tests bring their own environment; called once
// per process, at the first communicator. Nothing here is trusted further than a label.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c4::hook {

// Value of an environment variable, or null. Not called with null.
using GetVariable = const char* (*)(const char* name);

struct Identity {
  int global_rank = -1;  // -1: the environment does not say
  int world_size = -1;
  int local_rank = -1;
  std::uint32_t restart_count = 0;
  char job[64] = {};   // NUL-padded; cut where longer
  char node[64] = {};  // empty: the caller asks gethostname
};

Identity ReadIdentity(GetVariable get);

// A non-negative decimal number that is the whole text; -1 otherwise.
int ParseNumber(const char* text);

// Copies as much as fits and pads with NUL. `capacity` bytes need not end in NUL.
void CopyLabel(char* destination, std::size_t capacity, const char* source);

}  // namespace c4::hook
