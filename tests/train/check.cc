// Implementation of check.h.
#include "tests/train/check.h"

#include <unistd.h>

#include <cstdio>

namespace c4::train {
namespace {

int message_rank = 0;  // set before other threads start

// _exit: other threads may be inside the library that just failed, so no destructors.
[[noreturn]] void End(const char* call, const char* text, const char* file, int line) {
  std::fprintf(stderr, "rank %d: %s: %s (%s:%d)\n", message_rank, call, text, file, line);
  std::fflush(nullptr);
  _exit(kExitApiFailed);
}

}  // namespace

void SetRankForMessages(int rank) { message_rank = rank; }
int RankForMessages() { return message_rank; }

void CheckCuda(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  End(call, text, file, line);
}

void CheckNccl(ncclResult_t result, const char* call, const char* file, int line) {
  if (result == ncclSuccess) return;
  End(call, ncclGetErrorString(result), file, line);
}

}  // namespace c4::train
