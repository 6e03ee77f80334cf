#include "common/random_id.h"

#include <sys/random.h>

#include <array>

#include "common/check.h"

namespace c4 {

std::string RandomId() {
  std::array<unsigned char, 16> bytes{};
  // Up to 256 bytes are never short once the pool is seeded (getrandom(2)).
  C4_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string id;
  for (const unsigned char byte : bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace c4
