// A library that needs libnccl, itself opened RTLD_LOCAL: how PyTorch brings NCCL into a process.
#include "tests/unit/nccl_hook/probe/probe.h"

extern "C" __attribute__((visibility("default"))) int RunMiddle() {
  using namespace c4::hook;  // NOLINT(google-build-using-namespace): the wrappers' namespace
  UniqueId id;
  CommHandle communicator = nullptr;
  PROBE_CHECK(ncclGetUniqueId(&id) == 0);
  PROBE_CHECK(ncclCommInitRank(&communicator, 2, id, 0) == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 77, 7, 0, communicator, nullptr) == 0);
  PROBE_CHECK(ncclCommDestroy(communicator) == 0);
  return 0;
}
