// What the files that define API functions share: the export macro, the handle, and its checks.
//
// As in NCCL built with PROFAPI, each function is defined as a weak `ncclX` with a strong alias
// `pncclX` at the same address. The library is linked without -Bsymbolic: where one API function
// calls another (ncclBcast, ncclCommInitAll, the readiness check), the call goes through the PLT
// and a preloaded wrapper sees it, as with the real library.
#pragma once

#include <memory>

#include "tests/nccl_cpu/nccl/communicator.h"

#define C4_NCCL_API(type, name, ...)                                                         \
  extern "C" __attribute__((visibility("default"), alias(#name))) type p##name(__VA_ARGS__); \
  extern "C" __attribute__((visibility("default"), weak)) type name(__VA_ARGS__)

// What ncclComm_t points to.
struct ncclComm {
  static constexpr uint64_t kMagic = 0x0280028002800280;

  uint64_t magic = kMagic;
  std::shared_ptr<c4::nccl_cpu::Communicator> communicator =
      std::make_shared<c4::nccl_cpu::Communicator>();
};

namespace c4::nccl_cpu {

// ncclInvalidArgument, with a warning that names the function, unless the handle is one.
ncclResult_t CheckHandle(const ncclComm* comm, const char* function);
// Likewise, and the communicator must be made and without asynchronous error.
ncclResult_t CheckReady(ncclComm* comm, const char* function);

}  // namespace c4::nccl_cpu
