#include "agent/app/words.h"

#include <cstddef>

namespace c4::agent {
namespace {

constexpr const char* kOperations[] = {
    "Unknown", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll",
    "Gather",  "Scatter",   "Send",      "Recv",          "PutSignal", "Signal", "WaitSignal"};
static_assert(sizeof(kOperations) / sizeof(kOperations[0]) == abi::kOperationKindCount);

constexpr const char* kDatatypes[] = {"int8",    "uint8",    "int32",      "uint32",
                                      "int64",   "uint64",   "float16",    "float32",
                                      "float64", "bfloat16", "float8e4m3", "float8e5m2"};
constexpr const char* kStates[] = {"",          "initialising", "ready", "finalizing",
                                   "destroyed", "aborted",      "failed"};
constexpr const char* kTimings[] = {"host", "events", "progress"};

template <std::size_t kSize>
const char* Word(const char* const (&words)[kSize], std::size_t index) {
  return index < kSize ? words[index] : "unknown";
}

}  // namespace

const char* OperationName(abi::OperationKind kind) {
  return Word(kOperations, static_cast<std::size_t>(kind));
}

const char* DatatypeName(std::uint8_t datatype) {
  return datatype == abi::kDataTypeNone ? "" : Word(kDatatypes, datatype);
}

const char* StateName(abi::CommunicatorState state) {
  return Word(kStates, static_cast<std::size_t>(state));
}

const char* TimingName(std::uint32_t timing_mode) { return Word(kTimings, timing_mode); }

}  // namespace c4::agent
