// The part of the CUDA driver's C ABI that the hook calls, declared by ourselves: no CUDA headers,
// no link dependency. The functions are found at run time (timing/driver.h). Held against the real
// cuda.h by tests/unit/nccl_hook/cuda_abi_test.cc.
#pragma once

struct CUctx_st;
struct CUevent_st;
struct CUstream_st;

namespace c4::hook::cuda {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotReady = 600;
inline constexpr Status kCapturedEvent = 907;  // recorded inside a capture: has no time

using Context = ::CUctx_st*;
using Event = ::CUevent_st*;
using Stream = ::CUstream_st*;
using Device = int;

struct Uuid {
  unsigned char bytes[16];
};

inline constexpr unsigned int kEventDefault = 0;
inline constexpr unsigned int kEventDisableTiming = 2;
inline constexpr unsigned int kStreamNonBlocking = 1;
inline constexpr int kCaptureStatusNone = 0;
inline constexpr int kCaptureModeRelaxed = 2;

}  // namespace c4::hook::cuda
