// The wrappers of everything that enqueues work. Each says what its arguments mean and hands the
// call to CallOperation; nothing else belongs here.
#include "nccl_hook/export.h"
#include "nccl_hook/recorder.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {
namespace {

using Kind = abi::OperationKind;

}  // namespace

extern "C" {

C4_HOOK_EXPORT Result ncclAllReduce(const void* send, void* receive, std::size_t count,
                                    DataType datatype, ReductionOp reduction,
                                    CommHandle communicator, Stream stream) {
  return CallOperation<Function::kAllReduce>(
      {Kind::kAllReduce, communicator, stream, count, datatype, -1, -1, reduction}, C4_HOOK_CALLER,
      send, receive, count, datatype, reduction, communicator, stream);
}

C4_HOOK_EXPORT Result ncclAllGather(const void* send, void* receive, std::size_t count,
                                    DataType datatype, CommHandle communicator, Stream stream) {
  return CallOperation<Function::kAllGather>(
      {Kind::kAllGather, communicator, stream, count, datatype}, C4_HOOK_CALLER, send, receive,
      count, datatype, communicator, stream);
}

C4_HOOK_EXPORT Result ncclReduceScatter(const void* send, void* receive, std::size_t count,
                                        DataType datatype, ReductionOp reduction,
                                        CommHandle communicator, Stream stream) {
  return CallOperation<Function::kReduceScatter>(
      {Kind::kReduceScatter, communicator, stream, count, datatype, -1, -1, reduction},
      C4_HOOK_CALLER, send, receive, count, datatype, reduction, communicator, stream);
}

C4_HOOK_EXPORT Result ncclBroadcast(const void* send, void* receive, std::size_t count,
                                    DataType datatype, int root, CommHandle communicator,
                                    Stream stream) {
  return CallOperation<Function::kBroadcast>(
      {Kind::kBroadcast, communicator, stream, count, datatype, root}, C4_HOOK_CALLER, send,
      receive, count, datatype, root, communicator, stream);
}

C4_HOOK_EXPORT Result ncclBcast(void* buffer, std::size_t count, DataType datatype, int root,
                                CommHandle communicator, Stream stream) {
  return CallOperation<Function::kBcast>(
      {Kind::kBroadcast, communicator, stream, count, datatype, root}, C4_HOOK_CALLER, buffer,
      count, datatype, root, communicator, stream);
}

C4_HOOK_EXPORT Result ncclReduce(const void* send, void* receive, std::size_t count,
                                 DataType datatype, ReductionOp reduction, int root,
                                 CommHandle communicator, Stream stream) {
  return CallOperation<Function::kReduce>(
      {Kind::kReduce, communicator, stream, count, datatype, root, -1, reduction}, C4_HOOK_CALLER,
      send, receive, count, datatype, reduction, root, communicator, stream);
}

C4_HOOK_EXPORT Result ncclAlltoAll(const void* send, void* receive, std::size_t count,
                                   DataType datatype, CommHandle communicator, Stream stream) {
  return CallOperation<Function::kAlltoAll>(
      {Kind::kAlltoAll, communicator, stream, count, datatype}, C4_HOOK_CALLER, send, receive,
      count, datatype, communicator, stream);
}

C4_HOOK_EXPORT Result ncclGather(const void* send, void* receive, std::size_t count,
                                 DataType datatype, int root, CommHandle communicator,
                                 Stream stream) {
  return CallOperation<Function::kGather>(
      {Kind::kGather, communicator, stream, count, datatype, root}, C4_HOOK_CALLER, send, receive,
      count, datatype, root, communicator, stream);
}

C4_HOOK_EXPORT Result ncclScatter(const void* send, void* receive, std::size_t count,
                                  DataType datatype, int root, CommHandle communicator,
                                  Stream stream) {
  return CallOperation<Function::kScatter>(
      {Kind::kScatter, communicator, stream, count, datatype, root}, C4_HOOK_CALLER, send, receive,
      count, datatype, root, communicator, stream);
}

C4_HOOK_EXPORT Result ncclSend(const void* send, std::size_t count, DataType datatype, int peer,
                               CommHandle communicator, Stream stream) {
  return CallOperation<Function::kSend>(
      {Kind::kSend, communicator, stream, count, datatype, -1, peer}, C4_HOOK_CALLER, send, count,
      datatype, peer, communicator, stream);
}

C4_HOOK_EXPORT Result ncclRecv(void* receive, std::size_t count, DataType datatype, int peer,
                               CommHandle communicator, Stream stream) {
  return CallOperation<Function::kRecv>(
      {Kind::kRecv, communicator, stream, count, datatype, -1, peer}, C4_HOOK_CALLER, receive,
      count, datatype, peer, communicator, stream);
}

C4_HOOK_EXPORT Result ncclPutSignal(const void* local, std::size_t count, DataType datatype,
                                    int peer, Window window, std::size_t offset, int signal,
                                    int context, unsigned flags, CommHandle communicator,
                                    Stream stream) {
  return CallOperation<Function::kPutSignal>(
      {Kind::kPutSignal, communicator, stream, count, datatype, -1, peer}, C4_HOOK_CALLER, local,
      count, datatype, peer, window, offset, signal, context, flags, communicator, stream);
}

C4_HOOK_EXPORT Result ncclSignal(int peer, int signal, int context, unsigned flags,
                                 CommHandle communicator, Stream stream) {
  return CallOperation<Function::kSignal>(
      {Kind::kSignal, communicator, stream, 0, abi::kDataTypeNone, -1, peer}, C4_HOOK_CALLER, peer,
      signal, context, flags, communicator, stream);
}

C4_HOOK_EXPORT Result ncclWaitSignal(int count, WaitSignalDescriptor* descriptors,
                                     CommHandle communicator, Stream stream) {
  return CallOperation<Function::kWaitSignal>(
      {Kind::kWaitSignal, communicator, stream, count > 0 ? static_cast<std::uint64_t>(count) : 0},
      C4_HOOK_CALLER, count, descriptors, communicator, stream);
}

}  // extern "C"

}  // namespace c4::hook
