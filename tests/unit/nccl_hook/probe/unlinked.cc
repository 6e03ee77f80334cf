// An application without any link to NCCL: it opens a library that has one (`local`), or libnccl
// itself and asks for the functions by handle (`handle`). `later`: it asks the global scope before
// any NCCL is there.
#include <dlfcn.h>

#include <cstring>

#include "tests/unit/nccl_hook/probe/probe.h"

namespace c4::hook::probe {
namespace {

int RunLocal(const char* library) {
  void* middle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  PROBE_CHECK(middle != nullptr);
  const auto run = reinterpret_cast<int (*)()>(dlsym(middle, "RunMiddle"));
  PROBE_CHECK(run != nullptr);
  return run();
}

template <Function kFunction>
typename FunctionTraits<kFunction>::Pointer Get(void* handle) {
  return reinterpret_cast<typename FunctionTraits<kFunction>::Pointer>(
      dlsym(handle, FunctionTraits<kFunction>::kName));
}

int RunHandle() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  PROBE_CHECK(library != nullptr);
  UniqueId id;
  CommHandle communicator = nullptr;
  PROBE_CHECK(Get<Function::kGetUniqueId>(library)(&id) == 0);
  PROBE_CHECK(Get<Function::kCommInitRank>(library)(&communicator, 2, id, 1) == 0);
  PROBE_CHECK(
      Get<Function::kAllReduce>(library)(nullptr, nullptr, 78, 7, 0, communicator, nullptr) == 0);
  PROBE_CHECK(Get<Function::kCommDestroy>(library)(communicator) == 0);
  PROBE_CHECK(dlsym(library, "ncclNoSuchFunction") == nullptr);
  return 0;
}

int RunLater() {
  const auto early = reinterpret_cast<FunctionTraits<Function::kGetUniqueId>::Pointer>(
      dlsym(RTLD_DEFAULT, "ncclGetUniqueId"));
  UniqueId id;
  // With the hook there is a wrapper that can only refuse; without it there is nothing.
  PROBE_CHECK(early == nullptr || early(&id) == kInvalidUsage);
  return RunHandle();
}

}  // namespace
}  // namespace c4::hook::probe

int main(int argc, char** argv) {
  using namespace c4::hook::probe;  // NOLINT(google-build-using-namespace): a table of its names
  if (argc == 2 && std::strcmp(argv[1], "local") == 0) {
    return RunLocal("libhook_probe_middle.so");
  }
  if (argc == 2 && std::strcmp(argv[1], "static") == 0) {
    return RunLocal("libhook_probe_static.so");
  }
  if (argc == 2 && std::strcmp(argv[1], "handle") == 0) {
    return RunHandle();
  }
  if (argc == 2 && std::strcmp(argv[1], "later") == 0) {
    return RunLater();
  }
  return 2;
}
