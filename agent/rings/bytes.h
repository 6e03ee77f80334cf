// Reads a field of a shared-memory record out of a private copy of its bytes. The records hold
// std::atomic members, which cannot be copied as objects; their representation is the plain
// integer's (asserted).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace c4::agent {

template <typename T>
T FieldAt(const std::byte* record, std::size_t offset) {
  static_assert(sizeof(std::atomic<T>) == sizeof(T));
  T value;
  std::memcpy(&value, record + offset, sizeof(value));
  return value;
}

// NUL-padded text that may fill its array without a final NUL.
template <std::size_t kSize>
std::string TextAt(const std::byte* record, std::size_t offset) {
  std::array<char, kSize> text;
  std::memcpy(text.data(), record + offset, kSize);
  return {text.data(), strnlen(text.data(), kSize)};
}

}  // namespace c4::agent
