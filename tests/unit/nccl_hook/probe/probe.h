// The little application that the preload tests start under LD_PRELOAD=libc4hook.so. Each scenario
// returns 0 when the application saw what it would have seen without the hook; what the hook wrote
// is judged by the test that started it. Built without sanitizers: it must take an uninstrumented
// preload.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "nccl_hook/functions.h"
#include "nccl_hook/wrap/wrappers.h"

// The application's view is wrong: name the place and give up.
#define PROBE_CHECK(condition)                                                       \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                                 \
    }                                                                                \
  } while (false)

namespace c4::hook::probe {

inline Stream StreamNumber(std::uintptr_t number) { return reinterpret_cast<Stream>(number * 256); }
inline void* Opaque(std::uintptr_t number) { return StreamNumber(number); }

// A communicator of `rank_count` ranks in which this process is `rank`.
CommHandle MakeCommunicator(int rank_count, int rank);

// Tells the test that the interesting moment has come, then waits to be killed or told to go on.
void SayReady();
void WaitForGo();

int Collectives();
int Groups();
int Refused();
int Captured();
int Nested();
int InitAll();
int Splits();
int NonBlocking();
int Aborted();
int StuckCall();
int StuckStream();
int PoolExhausted();
int CudaDies();
int Forks();
int MissingFunctions();
int SecondLife();

}  // namespace c4::hook::probe
