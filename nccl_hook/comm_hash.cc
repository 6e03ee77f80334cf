#include "nccl_hook/comm_hash.h"

#include <cstdio>
#include <cstring>

namespace c4::hook {
namespace {

// NCCL 2.26's getHash: two accumulators that eat eight bytes at a time.
struct NcclHash {
  std::uint64_t acc0 = 1;
  std::uint64_t acc1 = 1;

  void Eat(const void* data, std::size_t bytes) {
    const auto* next = static_cast<const unsigned char*>(data);
    acc0 ^= bytes;
    while (bytes != 0) {
      acc0 += acc1;
      acc1 ^= acc0;
      acc0 ^= acc0 >> 31;
      acc0 *= 0x9de62bbc8cef3ce3;
      acc1 ^= acc1 >> 32;
      acc1 *= 0x485cd6311b599e79;
      const std::size_t chunk = bytes < 8 ? bytes : 8;
      std::uint64_t word = 0;
      std::memcpy(&word, next, chunk);
      acc0 += word;
      next += chunk;
      bytes -= chunk;
    }
  }
  std::uint64_t Digest() const {
    std::uint64_t hash = acc0;
    hash ^= hash >> 31;
    hash *= 0xbac3bd562846de6b;
    hash += acc1;
    hash ^= hash >> 32;
    hash *= 0x995a187a14e7b445;
    return hash;
  }
};

// NCCL up to 2.25: Bernstein's hash over plain chars, whose sign is the platform's.
std::uint64_t Djb2a(const char* data, std::size_t bytes) {
  std::uint64_t hash = 5381;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash * 33) ^ static_cast<std::uint64_t>(data[i]);
  }
  return hash;
}

// The hook's own hash: FNV-1a, with a final mix because FNV's high bits are weak on short input.
struct IdHash {
  std::uint64_t value = 0xcbf29ce484222325;

  template <typename T>
  IdHash& Add(const T& field) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&field);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = (value ^ bytes[i]) * 0x100000001b3;
    }
    return *this;
  }
  std::uint64_t Finish() const {
    std::uint64_t mixed = value;
    mixed ^= mixed >> 33;
    mixed *= 0xff51afd7ed558ccd;  // the finaliser of MurmurHash3
    mixed ^= mixed >> 33;
    return mixed != 0 ? mixed : 1;  // 0 means "no communicator" in the file
  }
};

// Domains keep a split, a shrink and a root from ever hashing the same bytes.
constexpr char kRootDomain = 'r';
constexpr char kSplitDomain = 's';
constexpr char kShrinkDomain = 'k';

}  // namespace

std::uint64_t NcclRootHash(int version, const UniqueId& id) {
  if (version == 0) {
    return 0;
  }
  if (version < kVersionHashEat) {
    return Djb2a(id.internal, sizeof(id.internal));
  }
  NcclHash hash;
  hash.Eat(id.internal, sizeof(id.internal));
  return hash.Digest();
}

std::uint64_t NcclSplitHash(int version, std::uint64_t parent_hash, int split_count, int color) {
  if (version == 0 || parent_hash == 0) {
    return 0;
  }
  if (version < kVersionHashEat) {
    UniqueId id = {};
    const auto parent = static_cast<unsigned long>(parent_hash);
    if (version < kVersionHashSplitCount) {
      std::snprintf(id.internal, sizeof(id.internal), "%016lx-%d", parent, color);
    } else {
      std::snprintf(id.internal, sizeof(id.internal), "%016lx-%d-%d", parent, split_count, color);
    }
    return Djb2a(id.internal, sizeof(id.internal));
  }
  NcclHash hash;
  hash.Eat(&parent_hash, sizeof(parent_hash));
  hash.Eat(&split_count, sizeof(split_count));
  hash.Eat(&color, sizeof(color));
  return hash.Digest();
}

std::uint64_t RootId(const UniqueId* ids, int id_count, int rank_count, std::uint64_t occurrence) {
  IdHash hash;
  hash.Add(kRootDomain);
  for (int i = 0; i < id_count; ++i) {
    hash.Add(ids[i].internal);
  }
  return hash.Add(rank_count).Add(occurrence).Finish();
}

std::uint64_t SplitId(std::uint64_t parent_id, int split_count, int color) {
  return IdHash().Add(kSplitDomain).Add(parent_id).Add(split_count).Add(color).Finish();
}

std::uint64_t ShrinkId(std::uint64_t parent_id, int shrink_count, const int* exclude, int count) {
  // A sum of hashes does not depend on the order in which the ranks are listed: NCCL sorts the
  // list, and need not have done so yet.
  std::uint64_t members = 0;
  for (int i = 0; i < count; ++i) {
    members += IdHash().Add(exclude[i]).Finish();
  }
  return IdHash().Add(kShrinkDomain).Add(parent_id).Add(shrink_count).Add(members).Finish();
}

bool IsFixedId(const UniqueId& id) {
  std::uint64_t magic = 0;
  std::memcpy(&magic, id.internal, sizeof(magic));
  return magic == kFixedIdMagic;
}

}  // namespace c4::hook
