// nccl_hook/nccl_abi.h and functions.h against the real nccl.h. Compiling is the test. Functions
// newer than the installed NCCL are left out by their version.
#include "nccl_hook/nccl_abi.h"

#include <nccl.h>

#include <type_traits>

#include "nccl_hook/functions.h"

namespace c4::hook {
namespace {

static_assert(kSuccess == ncclSuccess);
static_assert(kInvalidUsage == ncclInvalidUsage);
static_assert(kInProgress == ncclInProgress);
static_assert(sizeof(Result) == sizeof(ncclResult_t));
static_assert(sizeof(DataType) == sizeof(ncclDataType_t));
static_assert(sizeof(ReductionOp) == sizeof(ncclRedOp_t));
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(alignof(UniqueId) == alignof(ncclUniqueId));
static_assert(kConfigUndefined == NCCL_CONFIG_UNDEF_INT);
static_assert(kSplitNoColor == NCCL_SPLIT_NOCOLOR);
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(Config, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));
#if NCCL_VERSION_CODE >= 22700
static_assert(offsetof(Config, comm_name) == offsetof(ncclConfig_t, commName));
#endif

// The same number of parameters of the same sizes, and pointers where there are pointers.
template <typename Ours, typename Theirs>
struct IsSameAbi : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct IsSameAbi<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return ((sizeof(Ours) == sizeof(Theirs) &&
               std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
               std::is_class_v<Ours> == std::is_class_v<Theirs>)&&...);
    }
  }();
};
#define C4_CHECK_FUNCTION(name)                                                              \
  static_assert(                                                                             \
      IsSameAbi<FunctionTraits<Function::k##name>::Pointer, decltype(&::nccl##name)>::value, \
      #name)
C4_CHECK_FUNCTION(AllReduce);
C4_CHECK_FUNCTION(AllGather);
C4_CHECK_FUNCTION(ReduceScatter);
C4_CHECK_FUNCTION(Broadcast);
C4_CHECK_FUNCTION(Bcast);
C4_CHECK_FUNCTION(Reduce);
C4_CHECK_FUNCTION(Send);
C4_CHECK_FUNCTION(Recv);
C4_CHECK_FUNCTION(GroupStart);
C4_CHECK_FUNCTION(GroupEnd);
C4_CHECK_FUNCTION(GetUniqueId);
C4_CHECK_FUNCTION(CommInitRank);
C4_CHECK_FUNCTION(CommInitRankConfig);
C4_CHECK_FUNCTION(CommInitAll);
C4_CHECK_FUNCTION(CommFinalize);
C4_CHECK_FUNCTION(CommDestroy);
C4_CHECK_FUNCTION(CommAbort);
C4_CHECK_FUNCTION(CommGetAsyncError);
C4_CHECK_FUNCTION(GetVersion);
C4_CHECK_FUNCTION(CommCount);
C4_CHECK_FUNCTION(CommUserRank);
#if NCCL_VERSION_CODE >= 21800
C4_CHECK_FUNCTION(CommSplit);
#endif
#if NCCL_VERSION_CODE >= 22203
C4_CHECK_FUNCTION(GroupSimulateEnd);
#endif
#if NCCL_VERSION_CODE >= 22304
C4_CHECK_FUNCTION(CommInitRankScalable);
#endif
#if NCCL_VERSION_CODE >= 22703
C4_CHECK_FUNCTION(CommShrink);
#endif
#if NCCL_VERSION_CODE >= 22803
C4_CHECK_FUNCTION(AlltoAll);
C4_CHECK_FUNCTION(Gather);
C4_CHECK_FUNCTION(Scatter);
#endif
#if NCCL_VERSION_CODE >= 22902
C4_CHECK_FUNCTION(PutSignal);
C4_CHECK_FUNCTION(Signal);
C4_CHECK_FUNCTION(WaitSignal);
#endif
#undef C4_CHECK_FUNCTION

}  // namespace
}  // namespace c4::hook
