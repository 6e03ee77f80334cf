// The native kernels; the contract is in kernel_table.h.
#include "tests/nccl_cpu/cuda/kernel_table.h"

#include <atomic>
#include <bit>
#include <cerrno>

#include "tests/nccl_cpu/cuda/driver.h"
#include "tests/nccl_cpu/fault.h"

namespace c4::cuda_cpu {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
// How often c4_stuck looks at its flag: often enough for tests, too seldom to cost a core anything.
constexpr int64_t kStuckLookNs = 1'000'000;

// To an absolute deadline, so that a late wake-up does not add up over kernels in a row.
void SleepUntil(int64_t deadline_ns) {
  const timespec deadline = {deadline_ns / kNsPerSecond, deadline_ns % kNsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

[[noreturn]] void SleepForEver() {
  while (true) SleepUntil(NowNs() + 3600 * kNsPerSecond);
}

void Compute(const KernelArguments& arguments) {
  static std::atomic<int64_t> launched{0};  // relaxed: a count, it orders nothing
  const int64_t start = NowNs();
  const cpu::FaultPlan& fault = cpu::FaultPlan::FromEnvironment();
  const int64_t before = launched.fetch_add(1, std::memory_order_relaxed);
  if (fault.stuck_kernel_after != cpu::FaultPlan::kNever && before >= fault.stuck_kernel_after) {
    SleepForEver();
  }
  auto duration = static_cast<int64_t>(arguments[0]);
  if (before >= fault.slow_kernel_after) duration += duration / 100 * fault.slow_kernel_percent;
  SleepUntil(start + duration);
}

float* FloatPointer(uint64_t argument) { return reinterpret_cast<float*>(argument); }
float Float(uint64_t argument) { return std::bit_cast<float>(static_cast<uint32_t>(argument)); }

void Fill(const KernelArguments& arguments) {
  float* values = FloatPointer(arguments[0]);
  for (uint64_t i = 0; i < arguments[2]; ++i) values[i] = Float(arguments[1]);
}

void Scale(const KernelArguments& arguments) {
  float* values = FloatPointer(arguments[0]);
  for (uint64_t i = 0; i < arguments[2]; ++i) values[i] *= Float(arguments[1]);
}

void Stuck(const KernelArguments& arguments) {
  std::atomic_ref flag(*reinterpret_cast<uint32_t*>(arguments[0]));
  // Acquire: pairs with whatever store of the host or another stream releases this kernel.
  while (flag.load(std::memory_order_acquire) == 0) SleepUntil(NowNs() + kStuckLookNs);
}

constexpr Kernel kKernels[] = {
    {"c4_compute", 1, {8}, Compute},
    {"c4_fill", 3, {8, 4, 8}, Fill},
    {"c4_scale", 3, {8, 4, 8}, Scale},
    {"c4_stuck", 1, {8}, Stuck},
};

}  // namespace

const Kernel* FindKernel(std::string_view name) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace c4::cuda_cpu
