// The kernels this device can run. A CPU cannot execute PTX, so an `.entry NAME` of a loaded module
// is bound to a native implementation by its name; the PTX with the same names runs on a real GPU.
//
//   c4_compute(u64 duration_ns)              occupies the stream that long (sleeping, not spinning)
//   c4_fill(float* p, float value, u64 n)    p[i] = value
//   c4_scale(float* p, float factor, u64 n)  p[i] *= factor
//   c4_stuck(volatile u32* flag)             occupies the stream until *flag is not zero
//
// Thread: the table is constant; Run is called on stream workers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace c4::cuda_cpu {

constexpr size_t kKernelParametersMax = 3;

// Each parameter by value, in the low bytes of its slot.
using KernelArguments = std::array<uint64_t, kKernelParametersMax>;

struct Kernel {
  std::string_view name;
  size_t parameter_count;
  std::array<size_t, kKernelParametersMax> parameter_bytes;
  void (*run)(const KernelArguments& arguments);
};

const Kernel* FindKernel(std::string_view name);  // null when there is none

}  // namespace c4::cuda_cpu
