// The API functions that make, query and end communicators.
//
// Non-blocking communicators (config.blocking = 0) are made like blocking ones: the call returns
// when the communicator is ready, and ncclCommGetAsyncError never says ncclInProgress.
#include <cstddef>

#include "tests/nccl_cpu/nccl/api.h"
#include "tests/nccl_cpu/nccl/bootstrap.h"
#include "tests/nccl_cpu/nccl/cuda_driver.h"
#include "tests/nccl_cpu/nccl/group.h"
#include "tests/nccl_cpu/nccl/log.h"

namespace c4::nccl_cpu {

ncclResult_t CheckHandle(const ncclComm* comm, const char* function) {
  if (comm != nullptr && comm->magic == ncclComm::kMagic) return ncclSuccess;
  LogWarn("%s : comm argument is %s", function, comm == nullptr ? "NULL" : "corrupted");
  return ncclInvalidArgument;
}

ncclResult_t CheckReady(ncclComm* comm, const char* function) {
  if (const ncclResult_t result = CheckHandle(comm, function); result != ncclSuccess) return result;
  if (!comm->communicator->ready()) {
    LogWarn("Attempt to use communicator before the previous operation returned ncclSuccess");
    return ncclInvalidArgument;
  }
  // Through the exported function, as in NCCL's ncclCommEnsureReady.
  ncclResult_t error = ncclSuccess;
  ncclCommGetAsyncError(comm, &error);
  return error;
}

namespace {

ncclResult_t CheckConfig(const ncclConfig_t* config) {
  // Older callers pass a shorter struct; only the head is read here.
  if (config == nullptr) return ncclSuccess;
  if (config->size >= offsetof(ncclConfig_t, blocking) && config->magic == 0xcafebeef) {
    return ncclSuccess;
  }
  LogWarn("ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  return ncclInvalidArgument;
}

// Queues a job that makes a communicator, and runs it at once outside a group.
ncclResult_t Queue(const void* owner, std::function<ncclResult_t()> job) {
  GroupBegin();
  AddJob(owner, std::move(job));
  return GroupFinish();
}

ncclResult_t Fail(ncclResult_t error) {
  if (InGroup()) SetGroupError(error);
  return error;
}

ncclResult_t InitRank(const char* caller, ncclComm_t* comm, int nranks, const ncclUniqueId& id,
                      int rank, const ncclConfig_t* config) {
  if (const auto result = CheckConfig(config); result != ncclSuccess) return Fail(result);
  if (comm == nullptr || nranks < 1 || rank < 0 || rank >= nranks) {
    LogWarn("Invalid rank requested : %d/%d", rank, nranks);
    return Fail(ncclInvalidArgument);
  }
  int device = 0;
  if (!CurrentDevice(&device)) {
    LogWarn("No CUDA driver or device");
    return Fail(ncclUnhandledCudaError);
  }
  // Set before the call returns even inside a group, when it is not usable yet.
  *comm = new ncclComm;
  return Queue(*comm, [caller, made = (*comm)->communicator, nranks, id, rank, device] {
    return made->Init(caller, nranks, id, rank, device);
  });
}

}  // namespace
}  // namespace c4::nccl_cpu

using c4::nccl_cpu::CheckHandle;
using c4::nccl_cpu::CheckReady;
using c4::nccl_cpu::Fail;

C4_NCCL_API(ncclResult_t, ncclGetUniqueId, ncclUniqueId* unique_id) {
  if (unique_id == nullptr) return ncclInvalidArgument;
  return c4::nccl_cpu::CreateUniqueId(unique_id);
}

C4_NCCL_API(ncclResult_t, ncclCommInitRank, ncclComm_t* comm, int nranks, ncclUniqueId id,
            int rank) {
  return c4::nccl_cpu::InitRank("ncclCommInitRank", comm, nranks, id, rank, nullptr);
}

C4_NCCL_API(ncclResult_t, ncclCommInitRankConfig, ncclComm_t* comm, int nranks, ncclUniqueId id,
            int rank, ncclConfig_t* config) {
  return c4::nccl_cpu::InitRank("ncclCommInitRankConfig", comm, nranks, id, rank, config);
}

// Ranks are processes here: one device per process only.
C4_NCCL_API(ncclResult_t, ncclCommInitAll, ncclComm_t* comm, int ndev, const int* devlist) {
  if (comm == nullptr || ndev < 1) return ncclInvalidArgument;
  if (ndev > 1) {
    c4::nccl_cpu::LogWarn("ncclCommInitAll: this library supports one device per process");
    return ncclInvalidUsage;
  }
  const auto* driver = c4::nccl_cpu::CudaDriver::Get();
  CUcontext before = nullptr;
  CUcontext context = nullptr;
  const int device = devlist == nullptr ? 0 : devlist[0];
  if (driver == nullptr || driver->ctx_get_current(&before) != CUDA_SUCCESS ||
      driver->primary_ctx_retain(&context, device) != CUDA_SUCCESS) {
    return ncclUnhandledCudaError;
  }
  driver->ctx_set_current(context);
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);  // the exported function, as in NCCL
  if (result == ncclSuccess) {
    result = c4::nccl_cpu::InitRank("ncclCommInitAll", comm, 1, id, 0, nullptr);
  }
  driver->ctx_set_current(before);
  return result;
}

C4_NCCL_API(ncclResult_t, ncclCommSplit, ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
            ncclConfig_t* config) {
  if (const auto result = CheckReady(comm, "CommSplit"); result != ncclSuccess) return Fail(result);
  if (const auto result = c4::nccl_cpu::CheckConfig(config); result != ncclSuccess) {
    return Fail(result);
  }
  if (newcomm == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR)) {
    return Fail(ncclInvalidArgument);
  }
  *newcomm = nullptr;
  return c4::nccl_cpu::Queue(comm, [parent = comm->communicator, color, key, newcomm] {
    std::shared_ptr<c4::nccl_cpu::Communicator> child;
    const ncclResult_t result = parent->Split(color, key, &child);
    if (child != nullptr) {
      auto* handle = new ncclComm;
      handle->communicator = std::move(child);
      *newcomm = handle;
    }
    return result;
  });
}

C4_NCCL_API(ncclResult_t, ncclCommFinalize, ncclComm_t comm) {
  if (const auto result = CheckReady(comm, "CommFinalize"); result != ncclSuccess) return result;
  comm->communicator->Drain();
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommDestroy, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const auto result = CheckHandle(comm, "CommDestroy"); result != ncclSuccess) return result;
  comm->communicator->Drain();
  comm->magic = 0;
  delete comm;
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommAbort, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const auto result = CheckHandle(comm, "CommAbort"); result != ncclSuccess) return result;
  comm->communicator->Abort();
  comm->magic = 0;
  delete comm;
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommGetAsyncError, ncclComm_t comm, ncclResult_t* async_error) {
  if (const auto result = CheckHandle(comm, "GetAsyncError"); result != ncclSuccess) return result;
  if (async_error == nullptr) return ncclInvalidArgument;
  *async_error = comm->communicator->async_error();
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommCount, const ncclComm_t comm, int* count) {
  if (const auto result = CheckReady(comm, "CommCount"); result != ncclSuccess) return result;
  if (count == nullptr) return ncclInvalidArgument;
  *count = comm->communicator->nranks();
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommCuDevice, const ncclComm_t comm, int* device) {
  if (const auto result = CheckReady(comm, "CommCuDevice"); result != ncclSuccess) return result;
  if (device == nullptr) return ncclInvalidArgument;
  *device = comm->communicator->device();
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommUserRank, const ncclComm_t comm, int* rank) {
  if (const auto result = CheckReady(comm, "CommUserRank"); result != ncclSuccess) return result;
  if (rank == nullptr) return ncclInvalidArgument;
  *rank = comm->communicator->rank();
  return ncclSuccess;
}
