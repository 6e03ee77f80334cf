// nccl_hook/cuda_abi.h against the real cuda.h. Compiling is the test.
#include "nccl_hook/cuda_abi.h"

#include <cuda.h>

#include <type_traits>

#include "nccl_hook/timing/driver.h"

namespace c4::hook {
namespace {

static_assert(cuda::kSuccess == CUDA_SUCCESS);
static_assert(cuda::kNotReady == CUDA_ERROR_NOT_READY);
static_assert(cuda::kCapturedEvent == CUDA_ERROR_CAPTURED_EVENT);
static_assert(cuda::kEventDefault == CU_EVENT_DEFAULT);
static_assert(cuda::kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::kCaptureStatusNone == CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(cuda::kCaptureModeRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(std::is_same_v<cuda::Context, CUcontext>);
static_assert(std::is_same_v<cuda::Event, CUevent>);
static_assert(std::is_same_v<cuda::Stream, CUstream>);
static_assert(std::is_same_v<cuda::Device, CUdevice>);
static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));
static_assert(sizeof(cuda::Status) == sizeof(CUresult));

// The same number of parameters of the same sizes, in registers of the same kind.
template <typename Ours, typename Theirs>
struct IsSameAbi : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct IsSameAbi<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return ((sizeof(Ours) == sizeof(Theirs) &&
               std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...);
    }
  }();
};
#define C4_CHECK_DRIVER(member, symbol, ...) \
  static_assert(IsSameAbi<decltype(Driver::member), decltype(&::symbol)>::value, #symbol);
C4_HOOK_DRIVER_FUNCTIONS(C4_CHECK_DRIVER)
#undef C4_CHECK_DRIVER

}  // namespace
}  // namespace c4::hook
