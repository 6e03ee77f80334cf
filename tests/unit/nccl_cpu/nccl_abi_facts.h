// The facts about NCCL's ABI, in the manner of abi_facts.h.
#pragma once

#include "tests/unit/nccl_cpu/abi_facts.h"

C4_VALUE(NCCL_UNIQUE_ID_BYTES, 128);
C4_VALUE(NCCL_SPLIT_NOCOLOR, -1);
C4_VALUE(sizeof(ncclUniqueId), 128);
C4_VALUE(ncclUnhandledCudaError, 1);
C4_VALUE(ncclSystemError, 2);
C4_VALUE(ncclInternalError, 3);
C4_VALUE(ncclInvalidArgument, 4);
C4_VALUE(ncclInvalidUsage, 5);
C4_VALUE(ncclRemoteError, 6);
C4_VALUE(ncclInProgress, 7);
C4_VALUE(ncclSum, 0);
C4_VALUE(ncclProd, 1);
C4_VALUE(ncclMax, 2);
C4_VALUE(ncclMin, 3);
C4_VALUE(ncclAvg, 4);
C4_VALUE(ncclNumOps, 5);
C4_VALUE(ncclInt8, 0);
C4_VALUE(ncclUint8, 1);
C4_VALUE(ncclInt32, 2);
C4_VALUE(ncclUint32, 3);
C4_VALUE(ncclInt64, 4);
C4_VALUE(ncclUint64, 5);
C4_VALUE(ncclFloat16, 6);
C4_VALUE(ncclFloat32, 7);
C4_VALUE(ncclFloat64, 8);
C4_VALUE(ncclBfloat16, 9);
C4_VALUE(ncclScalarHostImmediate, 1);
C4_VALUE(sizeof(ncclRedOp_t), 4);
C4_VALUE(sizeof(ncclDataType_t), 4);
// The head of the configuration is the same in all versions; later ones append.
C4_FIELD(ncclConfig_t, size, 0);
C4_FIELD(ncclConfig_t, magic, 8);
C4_FIELD(ncclConfig_t, version, 12);
C4_FIELD(ncclConfig_t, blocking, 16);
#if NCCL_VERSION_CODE >= 22803
C4_FIELD(ncclConfig_t, splitShare, 40);
C4_FIELD(ncclConfig_t, trafficClass, 44);
C4_FIELD(ncclConfig_t, commName, 48);
C4_FIELD(ncclConfig_t, nvlsCTAs, 68);
C4_FIELD(ncclConfig_t, nvlinkCentricSched, 76);
#endif

C4_SIGNATURE(ncclGetVersion, ncclResult_t(int*));
C4_SIGNATURE(ncclGetUniqueId, ncclResult_t(ncclUniqueId*));
C4_SIGNATURE(ncclCommInitRank, ncclResult_t(ncclComm_t*, int, ncclUniqueId, int));
C4_SIGNATURE(ncclCommInitRankConfig,
             ncclResult_t(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*));
C4_SIGNATURE(ncclCommInitAll, ncclResult_t(ncclComm_t*, int, const int*));
C4_SIGNATURE(ncclCommSplit, ncclResult_t(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*));
C4_SIGNATURE(ncclCommFinalize, ncclResult_t(ncclComm_t));
C4_SIGNATURE(ncclCommDestroy, ncclResult_t(ncclComm_t));
C4_SIGNATURE(ncclCommAbort, ncclResult_t(ncclComm_t));
C4_SIGNATURE(ncclCommGetAsyncError, ncclResult_t(ncclComm_t, ncclResult_t*));
C4_SIGNATURE(ncclCommCount, ncclResult_t(const ncclComm_t, int*));
C4_SIGNATURE(ncclGetErrorString, const char*(ncclResult_t));
C4_SIGNATURE(ncclGetLastError, const char*(ncclComm_t));
C4_SIGNATURE(ncclMemAlloc, ncclResult_t(void**, size_t));
C4_SIGNATURE(ncclCommRegister, ncclResult_t(const ncclComm_t, void*, size_t, void**));
C4_SIGNATURE(ncclRedOpCreatePreMulSum,
             ncclResult_t(ncclRedOp_t*, void*, ncclDataType_t, ncclScalarResidence_t, ncclComm_t));
C4_SIGNATURE(ncclAllReduce, ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t,
                                         ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclReduce, ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int,
                                      ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclBcast, ncclResult_t(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclBroadcast, ncclResult_t(const void*, void*, size_t, ncclDataType_t, int,
                                         ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclReduceScatter, ncclResult_t(const void*, void*, size_t, ncclDataType_t,
                                             ncclRedOp_t, ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclAllGather,
             ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclSend,
             ncclResult_t(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclRecv, ncclResult_t(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
#if NCCL_VERSION_CODE >= 22803
C4_SIGNATURE(ncclAlltoAll,
             ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
C4_SIGNATURE(ncclGather, ncclResult_t(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t,
                                      cudaStream_t));
C4_SIGNATURE(ncclScatter, ncclResult_t(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t,
                                       cudaStream_t));
#endif
C4_SIGNATURE(ncclGroupStart, ncclResult_t());
C4_SIGNATURE(ncclGroupEnd, ncclResult_t());
