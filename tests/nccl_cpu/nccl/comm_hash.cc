// Implementation of comm_hash.h; the constants are NCCL's.
#include "tests/nccl_cpu/nccl/comm_hash.h"

#include <algorithm>
#include <cstring>

namespace c4::nccl_cpu {
namespace {

class Hash {
 public:
  void Eat(const void* data, size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    low_ ^= bytes;
    while (bytes > 0) {
      low_ += high_;
      high_ ^= low_;
      low_ ^= low_ >> 31;
      low_ *= 0x9de62bbc8cef3ce3;
      high_ ^= high_ >> 32;
      high_ *= 0x485cd6311b599e79;
      const size_t chunk = std::min(bytes, sizeof(uint64_t));
      uint64_t value = 0;
      std::memcpy(&value, at, chunk);
      low_ += value;
      at += chunk;
      bytes -= chunk;
    }
  }

  uint64_t Digest() const {
    uint64_t hash = low_;
    hash ^= hash >> 31;
    hash *= 0xbac3bd562846de6b;
    hash += high_;
    hash ^= hash >> 32;
    hash *= 0x995a187a14e7b445;
    return hash;
  }

 private:
  uint64_t low_ = 1;
  uint64_t high_ = 1;
};

}  // namespace

uint64_t RootCommHash(const ncclUniqueId& id) {
  Hash hash;
  hash.Eat(&id, sizeof(id));
  return hash.Digest();
}

uint64_t SplitCommHash(uint64_t parent_hash, int split_count, int color) {
  Hash hash;
  hash.Eat(&parent_hash, sizeof(parent_hash));
  hash.Eat(&split_count, sizeof(split_count));
  hash.Eat(&color, sizeof(color));
  return hash.Digest();
}

uint64_t HashBytes(const std::string& bytes) {
  Hash hash;
  hash.Eat(bytes.data(), bytes.size());
  return hash.Digest();
}

}  // namespace c4::nccl_cpu
