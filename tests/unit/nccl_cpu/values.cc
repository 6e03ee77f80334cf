// Implementation of values.h. Elements are computed as doubles and stored through the 16-bit
// formats' own conversion, which half_test.cc checks on its own.
#include "tests/unit/nccl_cpu/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/nccl_cpu/nccl/half.h"

namespace c4::testing {
namespace {

using nccl_cpu::Bfloat16;
using nccl_cpu::Float16;

template <typename T>
T Convert(double value) {
  if constexpr (nccl_cpu::IsHalf<T>) {
    return T::FromFloat(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Calls visit with a value of the C++ type that `type` names.
template <typename Visit>
auto WithType(ncclDataType_t type, Visit visit) {
  switch (type) {
    case ncclInt8:
      return visit(int8_t{});
    case ncclUint8:
      return visit(uint8_t{});
    case ncclInt32:
      return visit(int32_t{});
    case ncclUint32:
      return visit(uint32_t{});
    case ncclInt64:
      return visit(int64_t{});
    case ncclUint64:
      return visit(uint64_t{});
    case ncclFloat16:
      return visit(Float16{});
    case ncclFloat32:
      return visit(float{});
    case ncclFloat64:
      return visit(double{});
    default:
      return visit(Bfloat16{});
  }
}

// `count` elements, the i-th with the value element(i).
template <typename Element>
Bytes Fill(ncclDataType_t type, size_t count, Element element) {
  return WithType(type, [&](auto tag) {
    using T = decltype(tag);
    Bytes bytes(count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      const T value = Convert<T>(element(i));
      std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
    }
    return bytes;
  });
}

double ReadAs(ncclDataType_t type, const char* at) {
  return WithType(type, [at](auto value) {
    std::memcpy(&value, at, sizeof(value));
    if constexpr (nccl_cpu::IsHalf<decltype(value)>) {
      return static_cast<double>(value.ToFloat());
    } else {
      return static_cast<double>(value);
    }
  });
}

bool IsInteger(ncclDataType_t type) { return type <= ncclUint64; }
bool IsSigned(ncclDataType_t type) {
  return type != ncclUint8 && type != ncclUint32 && type != ncclUint64;
}

// 1 or 2, and negative ones here and there: 2^8 ranks' products fit in bfloat16's exponent, not in
// an int8, so at most six ranks of nine contribute a 2 at one position.
double Element(ncclDataType_t type, size_t index, int rank) {
  const auto mix = index * 7 + static_cast<size_t>(rank) * 5;
  const double magnitude = mix % 3 == 0 ? 2 : 1;
  return IsSigned(type) && mix % 11 == 0 ? -magnitude : magnitude;
}

double Reduced(ncclDataType_t type, size_t index, int nranks, ncclRedOp_t op) {
  double result = Element(type, index, 0);
  for (int rank = 1; rank < nranks; ++rank) {
    const double value = Element(type, index, rank);
    if (op == ncclProd) result *= value;
    if (op == ncclMax) result = std::max(result, value);
    if (op == ncclMin) result = std::min(result, value);
    if (op == ncclSum || op == ncclAvg) result += value;
  }
  if (op != ncclAvg) return result;
  const double average = result / nranks;
  return IsInteger(type) ? std::trunc(average) : average;
}

}  // namespace

size_t BytesOf(ncclDataType_t type) {
  return WithType(type, [](auto tag) { return sizeof(tag); });
}

Bytes Values(ncclDataType_t type, size_t count, int rank) {
  return Fill(type, count, [=](size_t i) { return Element(type, i, rank); });
}

Bytes ReducedValues(ncclDataType_t type, size_t count, int nranks, ncclRedOp_t op) {
  return Fill(type, count, [=](size_t i) { return Reduced(type, i, nranks, op); });
}

Bytes Concatenated(ncclDataType_t type, size_t count, int nranks) {
  Bytes bytes;
  for (int rank = 0; rank < nranks; ++rank) {
    const Bytes block = Values(type, count, rank);
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

Bytes Block(const Bytes& bytes, int index, size_t block_bytes) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(block_bytes) * index;
  return {begin, begin + static_cast<std::ptrdiff_t>(block_bytes)};
}

bool Same(ncclDataType_t type, const Bytes& a, const Bytes& b) {
  if (a == b) return true;
  if (a.size() != b.size() || IsInteger(type)) return false;
  // Only averages are inexact: one rounding in the result's own precision.
  const double tolerance = type == ncclBfloat16  ? 1.0 / 128
                           : type == ncclFloat16 ? 1.0 / 1024
                                                 : 1e-6;
  const size_t element = BytesOf(type);
  for (size_t at = 0; at < a.size(); at += element) {
    const double x = ReadAs(type, &a[at]);
    const double y = ReadAs(type, &b[at]);
    if (std::abs(x - y) > tolerance * std::max(std::abs(x), std::abs(y))) return false;
  }
  return true;
}

}  // namespace c4::testing
