// The numbers of the shared-memory layout as the words of the schema. Pure.
#pragma once

#include <cstdint>

#include "common/abi/enums.h"

namespace c4::agent {

const char* OperationName(abi::OperationKind kind);
// ncclDataType_t; "" for none, "unknown" for a type newer than this program.
const char* DatatypeName(std::uint8_t datatype);
const char* StateName(abi::CommunicatorState state);
const char* TimingName(std::uint32_t timing_mode);

}  // namespace c4::agent
