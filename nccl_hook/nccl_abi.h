// The part of NCCL's C ABI that the hook touches, declared by ourselves: the hook builds without
// NCCL's headers and serves every NCCL from 2.14 on. Enumerations are plain ints here, as they are
// in the ABI, so that values newer than this header pass through unharmed. Types only: the
// functions are listed in functions.h. tests/unit/nccl_hook/nccl_abi_test.cc holds all this against
// the real nccl.h.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

struct ncclComm;
struct CUstream_st;

namespace c4::hook {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidUsage = 5;
inline constexpr Result kInProgress = 7;

using DataType = int;
using ReductionOp = int;
using CommHandle = ::ncclComm*;
using Stream = ::CUstream_st*;
using Window = void*;

// Passed by value: 128 bytes on the caller's stack, never a pointer.
struct UniqueId {
  char internal[128];
};

// ncclConfig_t grows at its end with every version; only what was asked for may be read (see
// ConfigName in wrap/communicator_config.h). Offsets are fixed since the field appeared.
struct Config {
  std::size_t size;
  std::uint32_t magic;
  std::uint32_t version;  // NCCL version that the caller was compiled against
  int blocking;           // 2.14
  int cga_cluster_size;
  int min_ctas;
  int max_ctas;
  const char* net_name;
  int split_share;
  int traffic_class;
  const char* comm_name;  // 2.27
};
inline constexpr std::uint32_t kConfigMagic = 0xcafebeef;
inline constexpr int kConfigUndefined = INT_MIN;
inline constexpr int kSplitNoColor = -1;

struct SimInfo;
struct WaitSignalDescriptor {
  int operation_count;
  int peer;
  int signal_index;
  int context;
};

}  // namespace c4::hook
