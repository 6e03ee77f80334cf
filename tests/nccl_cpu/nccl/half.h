// The two 16-bit float formats, as bits that convert to and from float (round to nearest even; NaN
// stays NaN, overflow becomes infinity). Own code because _Float16 in C++ depends on the compiler.
#pragma once

#include <bit>
#include <cstdint>

namespace c4::nccl_cpu {

struct Bfloat16 {
  uint16_t bits = 0;

  float ToFloat() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static Bfloat16 FromFloat(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    if ((wide & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((wide >> 16) | 0x40)};
    return {static_cast<uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16)};
  }
};

struct Float16 {
  uint16_t bits = 0;

  float ToFloat() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) {  // infinity or NaN
      return std::bit_cast<float>(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
    }
    // Shifted into a float's fields, exponent too small by 112: one exact multiplication mends both
    // normal and subnormal numbers.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
  }

  static Float16 FromFloat(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((wide >> 16) & 0x8000);
    const uint32_t magnitude = wide & 0x7fffffff;
    if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
    if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to 2^16
    if (magnitude < 0x38800000) {
      // Subnormal: adding 0.5 leaves the value in units of 2^-24 in the low bits, rounded by the
      // FPU.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000))};
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
  }
};

template <typename T>
inline constexpr bool IsHalf = false;
template <>
inline constexpr bool IsHalf<Bfloat16> = true;
template <>
inline constexpr bool IsHalf<Float16> = true;

}  // namespace c4::nccl_cpu
