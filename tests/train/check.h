// Ends the process when a call of the CUDA driver or NCCL fails: a sample program has no better
// answer, and the line says which call on which rank.
//
// Thread: any. What it is not: for asynchronous errors, which watchdog.h reports.
#pragma once

#include "tests/train/abi.h"

namespace c4::train {

inline constexpr int kExitApiFailed = 2;
inline constexpr int kExitWrongSum = 3;
inline constexpr int kExitAsyncError = 4;

// The rank that messages start with.
void SetRankForMessages(int rank);
int RankForMessages();

void CheckCuda(CUresult result, const char* call, const char* file, int line);
void CheckNccl(ncclResult_t result, const char* call, const char* file, int line);

}  // namespace c4::train

#define C4_TRAIN_CUDA(call) ::c4::train::CheckCuda((call), #call, __FILE__, __LINE__)
#define C4_TRAIN_NCCL(call) ::c4::train::CheckNccl((call), #call, __FILE__, __LINE__)
