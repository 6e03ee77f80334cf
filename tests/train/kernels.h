// The trainer's GPU kernels, as PTX text that the driver compiles when it is loaded.
//
// PTX and not CUDA C++ so that no nvcc is needed to build; ISA 6.0 and sm_50 so that every GPU of
// the last decade takes it. The same names exist natively in tests/nccl_cpu, which cannot run PTX.
//
//   c4_compute(u64 duration_ns)          occupies the stream that long, by the GPU's own timer
//   c4_fill(float*, float value, u64 n)  p[i] = value
//   c4_scale(float*, float factor, u64 n)  p[i] *= factor
//   c4_stuck(u32* flag)                  runs until *flag is not zero
//
// Thread: the text is constant. What it is not: fast; one thread keeps time, a few blocks move
// data.
#pragma once

namespace c4::train {

inline constexpr char kComputeKernel[] = "c4_compute";
inline constexpr char kFillKernel[] = "c4_fill";
inline constexpr char kScaleKernel[] = "c4_scale";
inline constexpr char kStuckKernel[] = "c4_stuck";

extern const char kKernelsPtx[];

}  // namespace c4::train
