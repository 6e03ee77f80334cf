// The hook over NVIDIA's own libnccl.so.2, on a machine without a GPU: what can be called there
// must answer as it does without the hook. Prints what it saw; real_nccl_test.py compares.
#include <dlfcn.h>

#include <cstdio>

#include "nccl_hook/functions.h"
#include "nccl_hook/wrap/wrappers.h"

using namespace c4::hook;  // NOLINT(google-build-using-namespace): the ABI's own types

int main() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return 77;
  }
  const auto get = [library](const char* name) { return dlsym(library, name); };
  int version = 0;
  UniqueId id = {};
  CommHandle communicator = reinterpret_cast<CommHandle>(1);
  const auto get_version =
      reinterpret_cast<FunctionTraits<Function::kGetVersion>::Pointer>(get("ncclGetVersion"));
  const auto get_id =
      reinterpret_cast<FunctionTraits<Function::kGetUniqueId>::Pointer>(get("ncclGetUniqueId"));
  const auto init =
      reinterpret_cast<FunctionTraits<Function::kCommInitRank>::Pointer>(get("ncclCommInitRank"));
  const auto init_all =
      reinterpret_cast<FunctionTraits<Function::kCommInitAll>::Pointer>(get("ncclCommInitAll"));
  const auto all_reduce =
      reinterpret_cast<FunctionTraits<Function::kAllReduce>::Pointer>(get("ncclAllReduce"));
  const auto start =
      reinterpret_cast<FunctionTraits<Function::kGroupStart>::Pointer>(get("ncclGroupStart"));
  const auto end =
      reinterpret_cast<FunctionTraits<Function::kGroupEnd>::Pointer>(get("ncclGroupEnd"));
  const auto destroy =
      reinterpret_cast<FunctionTraits<Function::kCommDestroy>::Pointer>(get("ncclCommDestroy"));
  Result result = get_version(&version);
  std::printf("version %d %d\n", result, version);
  std::printf("id %d\n", get_id(&id));
  std::printf("init %d\n", init(&communicator, 1, id, 0));
  std::printf("init_all %d\n", init_all(&communicator, 1, nullptr));
  std::printf("all_reduce %d\n", all_reduce(nullptr, nullptr, 1, 7, 0, nullptr, nullptr));
  std::printf("group %d\n", start());
  std::printf("end %d\n", end());
  std::printf("one end too many %d\n", end());
  std::printf("destroy %d\n", destroy(nullptr));
  std::printf("missing %p\n", get("ncclNoSuchFunction"));
  return 0;
}
