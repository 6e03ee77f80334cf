// Implementation of reduce.h.
#include "tests/nccl_cpu/nccl/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/nccl_cpu/nccl/half.h"

namespace c4::nccl_cpu {
namespace {

// Integers wrap, as on a GPU: arithmetic is done in the unsigned type of the same width (and at
// least unsigned int, so that no promotion brings signed overflow back).
template <typename T>
using Wrapping =
    std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

// Elements are copied in and out because user buffers may be unaligned; compilers make plain loads
// of it.
template <typename T>
T Load(const void* base, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(void* base, size_t index, T value) {
  std::memcpy(static_cast<char*>(base) + index * sizeof(T), &value, sizeof(T));
}

template <typename T, typename Op>
void ReduceAs(void* destination, const void* a, const void* b, size_t count, Op op) {
  for (size_t i = 0; i < count; ++i) {
    const T left = Load<T>(a, i);
    const T right = Load<T>(b, i);
    if constexpr (IsHalf<T>) {
      Store(destination, i, T::FromFloat(op(left.ToFloat(), right.ToFloat())));
    } else {
      Store(destination, i, op(left, right));
    }
  }
}

// Calls visit with a value of the C++ type that `type` names.
template <typename Visit>
void WithType(ncclDataType_t type, Visit visit) {
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
    case ncclBfloat16:
      return visit(Bfloat16{});
    default:  // CanReduce() said no
      return;
  }
}

}  // namespace

size_t TypeBytes(ncclDataType_t type) {
  static constexpr size_t kBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const auto index = static_cast<unsigned>(type);
  return index < ncclNumTypes ? kBytes[index] : 0;
}

bool CanReduce(ncclDataType_t type, ncclRedOp_t op) {
  return TypeBytes(type) != 0 && type != ncclFloat8e4m3 && type != ncclFloat8e5m2 &&
         static_cast<unsigned>(op) < ncclNumOps;
}

void Reduce(void* destination, const void* a, const void* b, size_t count, ncclDataType_t type,
            ncclRedOp_t op) {
  WithType(type, [&](auto tag) {
    using T = decltype(tag);
    switch (op) {
      case ncclProd:
        return ReduceAs<T>(destination, a, b, count, Multiply{});
      case ncclMax:
        return ReduceAs<T>(destination, a, b, count, Maximum{});
      case ncclMin:
        return ReduceAs<T>(destination, a, b, count, Minimum{});
      default:
        return ReduceAs<T>(destination, a, b, count, Add{});
    }
  });
}

void Divide(void* values, size_t count, ncclDataType_t type, int divisor) {
  WithType(type, [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < count; ++i) {
      const T value = Load<T>(values, i);
      if constexpr (IsHalf<T>) {
        Store(values, i, T::FromFloat(value.ToFloat() / static_cast<float>(divisor)));
      } else if constexpr (std::is_integral_v<T>) {
        // In 64 bits, so that a divisor that the type cannot hold stays itself.
        using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        Store(values, i, static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(divisor)));
      } else {
        Store(values, i, value / static_cast<T>(divisor));
      }
    }
  });
}

}  // namespace c4::nccl_cpu
