#include "nccl_hook/comm_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

namespace c4::hook {
namespace {

// The leading bytes of a unique id, as hex; the rest is zero.
UniqueId IdFromHex(const std::string& hex) {
  UniqueId id = {};
  for (std::size_t i = 0; i < hex.size() / 2; ++i) {
    id.internal[i] = static_cast<char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

// Taken from NCCL 2.28.9 itself: NCCL_DEBUG=TRACE NCCL_DEBUG_SUBSYS=CALL prints the hash of an id.
TEST(NcclRootHash, IsWhatNcclLogs) {
  EXPECT_EQ(NcclRootHash(22809, IdFromHex("c05c45a25d545e2a020092a1c0000202")), 0xdf0a6cba5c76c3b8);
  EXPECT_EQ(NcclRootHash(22809, IdFromHex("48e166178c60f43a0200c591c0000202")), 0xff83c4ab637332d5);
}

TEST(NcclRootHash, IsBernsteinsUpTo225) {
  // 128 zero bytes: 5381 * 33^128 modulo 2^64.
  std::uint64_t expected = 5381;
  for (int i = 0; i < 128; ++i) {
    expected *= 33;
  }
  EXPECT_EQ(NcclRootHash(22501, UniqueId{}), expected);
  EXPECT_NE(NcclRootHash(22602, UniqueId{}), expected);
}

TEST(NcclRootHash, IsUnknownWithoutAVersion) {
  EXPECT_EQ(NcclRootHash(0, UniqueId{}), 0U);
  EXPECT_EQ(NcclSplitHash(0, 1, 1, 1), 0U);
  EXPECT_EQ(NcclSplitHash(22809, 0, 1, 1), 0U);
}

TEST(NcclSplitHash, HashesTheTextUpTo225) {
  UniqueId text = {};
  std::strcpy(text.internal, "00000000000000ab-3");
  EXPECT_EQ(NcclSplitHash(22304, 0xab, 7, 3), NcclRootHash(22304, text));
  std::strcpy(text.internal, "00000000000000ab-7-3");
  EXPECT_EQ(NcclSplitHash(22501, 0xab, 7, 3), NcclRootHash(22501, text));
}

TEST(NcclSplitHash, DependsOnCountAndColourSince226) {
  const std::set<std::uint64_t> hashes = {
      NcclSplitHash(22809, 0xab, 1, 0), NcclSplitHash(22809, 0xab, 2, 0),
      NcclSplitHash(22809, 0xab, 1, 1), NcclSplitHash(22809, 0xac, 1, 0)};
  EXPECT_EQ(hashes.size(), 4U);
}

TEST(HookId, TellsCommunicatorsApart) {
  const UniqueId one = IdFromHex("01");
  const UniqueId two = IdFromHex("02");
  const UniqueId both[2] = {one, two};
  const int excluded[2] = {1, 2};
  const std::uint64_t world = RootId(&one, 1, 8, 0);
  const std::set<std::uint64_t> ids = {
      world,
      RootId(&two, 1, 8, 0),
      RootId(&one, 1, 4, 0),
      RootId(&one, 1, 8, 1),
      RootId(both, 2, 8, 0),
      SplitId(world, 1, 0),
      SplitId(world, 1, 1),
      SplitId(world, 2, 0),
      ShrinkId(world, 1, excluded, 2),
      ShrinkId(world, 1, excluded, 1),
      ShrinkId(world, 2, excluded, 2),
  };
  EXPECT_EQ(ids.size(), 11U);
  EXPECT_EQ(ids.count(0), 0U);
}

TEST(HookId, DoesNotDependOnTheOrderOfExcludedRanks) {
  const int up[3] = {1, 5, 9};
  const int down[3] = {9, 5, 1};
  EXPECT_EQ(ShrinkId(7, 1, up, 3), ShrinkId(7, 1, down, 3));
}

TEST(HookId, NoticesIdsThatRepeat) {
  UniqueId fixed = {};
  std::memcpy(fixed.internal, &kFixedIdMagic, sizeof(kFixedIdMagic));
  EXPECT_TRUE(IsFixedId(fixed));
  EXPECT_FALSE(IsFixedId(UniqueId{}));
}

}  // namespace
}  // namespace c4::hook
