// FNV-1a, for structures that are only compared within one process.
#pragma once

#include <cstdint>
#include <string>

namespace c4::detect {

inline constexpr std::uint64_t kHashSeed = 0xcbf29ce484222325ULL;

constexpr std::uint64_t HashMix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3ULL;
}

inline std::uint64_t HashText(const std::string& text, std::uint64_t hash = kHashSeed) {
  for (const char c : text) {
    hash = HashMix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

}  // namespace c4::detect
