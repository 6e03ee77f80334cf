// The API functions that move data. Each checks its arguments as NCCL does and adds an operation to
// the thread's group, which is open for the length of the call at least.
#include "tests/nccl_cpu/nccl/api.h"
#include "tests/nccl_cpu/nccl/group.h"
#include "tests/nccl_cpu/nccl/log.h"
#include "tests/nccl_cpu/nccl/reduce.h"

namespace c4::nccl_cpu {
namespace {

bool Reduces(OperationKind kind) {
  return kind == OperationKind::kAllReduce || kind == OperationKind::kReduce ||
         kind == OperationKind::kReduceScatter;
}

bool IsPointToPoint(OperationKind kind) {
  return kind == OperationKind::kSend || kind == OperationKind::kReceive;
}

ncclResult_t CheckOperation(ncclComm_t comm, const char* function, const Operation& operation) {
  if (const ncclResult_t result = CheckReady(comm, function); result != ncclSuccess) return result;
  if (TypeBytes(operation.type) == 0) {
    LogWarn("%s : invalid type %d", function, static_cast<int>(operation.type));
    return ncclInvalidArgument;
  }
  if (operation.peer < 0 || operation.peer >= comm->communicator->nranks()) {
    LogWarn("%s : invalid root or peer %d", function, operation.peer);
    return ncclInvalidArgument;
  }
  if (Reduces(operation.kind) && !CanReduce(operation.type, operation.op)) {
    LogWarn("%s : invalid reduction operation %d on type %d", function,
            static_cast<int>(operation.op), static_cast<int>(operation.type));
    return ncclInvalidArgument;
  }
  return ncclSuccess;
}

ncclResult_t Enqueue(const char* function, ncclComm_t comm, const Operation& operation) {
  GroupBegin();
  const ncclResult_t result = CheckOperation(comm, function, operation);
  if (result != ncclSuccess) {
    SetGroupError(result);
    GroupFinish();
    return result;
  }
  // Nothing to move: no launch. An empty Send or Recv still is one, as in NCCL.
  if (operation.count > 0 || IsPointToPoint(operation.kind)) {
    AddOperation(comm->communicator, operation);
  }
  return GroupFinish();
}

const char* Source(const void* pointer) { return static_cast<const char*>(pointer); }
char* Destination(void* pointer) { return static_cast<char*>(pointer); }

}  // namespace
}  // namespace c4::nccl_cpu

using c4::nccl_cpu::Destination;
using c4::nccl_cpu::Enqueue;
using c4::nccl_cpu::OperationKind;
using c4::nccl_cpu::Source;

C4_NCCL_API(ncclResult_t, ncclAllReduce, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("AllReduce", comm,
                 {OperationKind::kAllReduce, Source(sendbuff), Destination(recvbuff), count,
                  datatype, op, 0, stream});
}

C4_NCCL_API(ncclResult_t, ncclReduce, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
            cudaStream_t stream) {
  return Enqueue("Reduce", comm,
                 {OperationKind::kReduce, Source(sendbuff), Destination(recvbuff), count, datatype,
                  op, root, stream});
}

C4_NCCL_API(ncclResult_t, ncclBroadcast, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("Broadcast", comm,
                 {OperationKind::kBroadcast, Source(sendbuff), Destination(recvbuff), count,
                  datatype, ncclSum, root, stream});
}

// Through the exported function, as in NCCL: a wrapper sees both calls.
C4_NCCL_API(ncclResult_t, ncclBcast, void* buff, size_t count, ncclDataType_t datatype, int root,
            ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

C4_NCCL_API(ncclResult_t, ncclReduceScatter, const void* sendbuff, void* recvbuff, size_t recvcount,
            ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("ReduceScatter", comm,
                 {OperationKind::kReduceScatter, Source(sendbuff), Destination(recvbuff), recvcount,
                  datatype, op, 0, stream});
}

C4_NCCL_API(ncclResult_t, ncclAllGather, const void* sendbuff, void* recvbuff, size_t sendcount,
            ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("AllGather", comm,
                 {OperationKind::kAllGather, Source(sendbuff), Destination(recvbuff), sendcount,
                  datatype, ncclSum, 0, stream});
}

C4_NCCL_API(ncclResult_t, ncclAlltoAll, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("AlltoAll", comm,
                 {OperationKind::kAlltoAll, Source(sendbuff), Destination(recvbuff), count,
                  datatype, ncclSum, 0, stream});
}

C4_NCCL_API(ncclResult_t, ncclGather, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("Gather", comm,
                 {OperationKind::kGather, Source(sendbuff), Destination(recvbuff), count, datatype,
                  ncclSum, root, stream});
}

C4_NCCL_API(ncclResult_t, ncclScatter, const void* sendbuff, void* recvbuff, size_t count,
            ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("Scatter", comm,
                 {OperationKind::kScatter, Source(sendbuff), Destination(recvbuff), count, datatype,
                  ncclSum, root, stream});
}

C4_NCCL_API(ncclResult_t, ncclSend, const void* sendbuff, size_t count, ncclDataType_t datatype,
            int peer, ncclComm_t comm, cudaStream_t stream) {
  return Enqueue(
      "Send", comm,
      {OperationKind::kSend, Source(sendbuff), nullptr, count, datatype, ncclSum, peer, stream});
}

C4_NCCL_API(ncclResult_t, ncclRecv, void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
            ncclComm_t comm, cudaStream_t stream) {
  return Enqueue("Recv", comm,
                 {OperationKind::kReceive, nullptr, Destination(recvbuff), count, datatype, ncclSum,
                  peer, stream});
}

C4_NCCL_API(ncclResult_t, ncclGroupStart, void) {
  c4::nccl_cpu::GroupBegin();
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclGroupEnd, void) {
  if (!c4::nccl_cpu::InGroup()) {
    c4::nccl_cpu::LogWarn("ncclGroupEnd: not in a group call.");
    return ncclInvalidUsage;
  }
  return c4::nccl_cpu::GroupFinish();
}

// Forgets the group instead of starting it; there is no cost model to ask for an estimate.
C4_NCCL_API(ncclResult_t, ncclGroupSimulateEnd, ncclSimInfo_t* sim_info) {
  if (!c4::nccl_cpu::InGroup()) return ncclInvalidUsage;
  if (sim_info != nullptr) sim_info->estimatedTime = 0;
  return c4::nccl_cpu::GroupForget();
}
