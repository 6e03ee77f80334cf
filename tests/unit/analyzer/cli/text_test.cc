#include "analyzer/cli/text.h"

#include "gtest/gtest.h"

namespace c4::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Age, ReadsAsKubectlPrintsIt) {
  const std::int64_t minute = 60 * kSecond;
  const std::int64_t hour = 60 * minute;
  const std::int64_t day = 24 * hour;
  EXPECT_EQ(Age(-5 * kSecond), "0s");
  EXPECT_EQ(Age(0), "0s");
  EXPECT_EQ(Age(12 * kSecond), "12s");
  EXPECT_EQ(Age(119 * kSecond), "119s");
  EXPECT_EQ(Age(3 * minute + 4 * kSecond), "3m4s");
  EXPECT_EQ(Age(5 * minute), "5m");
  EXPECT_EQ(Age(17 * minute + 30 * kSecond), "17m");
  EXPECT_EQ(Age(5 * hour + 12 * minute), "5h12m");
  EXPECT_EQ(Age(30 * hour), "30h");
  EXPECT_EQ(Age(2 * day + 3 * hour), "2d3h");
  EXPECT_EQ(Age(400 * day), "400d");
  EXPECT_EQ(Age(3 * 365 * day + 2 * day), "3y2d");
  EXPECT_EQ(Age(9 * 365 * day), "9y");
}

TEST(Text, Times) {
  EXPECT_EQ(Timestamp(1'750'000'000'123'456'789), "2025-06-15 15:06:40.123");
  EXPECT_EQ(TimeOfDay(1'750'000'000'123'456'789), "15:06:40.123");
  EXPECT_EQ(Timestamp(0), "-");
  EXPECT_EQ(Delta(3'250'000'000), "+3.250 s");
  EXPECT_EQ(Delta(-1), "-0.000 s");
}

v1::Component Component(const std::string& kind) {
  v1::Component component;
  component.set_kind(kind);
  return component;
}

TEST(ComponentText, NamesEachKind) {
  v1::Component gpu = Component("gpu");
  gpu.set_node("n0");
  gpu.set_gpu(0);
  gpu.set_rank(0);
  EXPECT_EQ(ComponentText(gpu), "gpu 0 on n0 (rank 0)");
  gpu.clear_gpu();
  gpu.set_pci("0000:1b:00.0");
  EXPECT_EQ(ComponentText(gpu), "gpu 0000:1b:00.0 on n0 (rank 0)");

  v1::Component nic = Component("nic");
  nic.set_node("n1");
  nic.set_nic("mlx5_2");
  EXPECT_EQ(ComponentText(nic), "nic mlx5_2 on n1");

  v1::Component link = Component("link");
  link.set_node("n0");
  link.set_peer_node("n1");
  EXPECT_EQ(ComponentText(link), "link n0 - n1");
  link.set_rank(2);
  link.set_peer_rank(3);
  EXPECT_EQ(ComponentText(link), "link rank 2 - rank 3");
  link.set_nic("mlx5_0");
  link.set_peer_nic("mlx5_1");
  EXPECT_EQ(ComponentText(link), "link n0 mlx5_0 - n1 mlx5_1");

  v1::Component rank = Component("rank");
  rank.set_rank(5);
  rank.set_node("n1");
  EXPECT_EQ(ComponentText(rank), "rank 5 on n1");
  v1::Component software = Component("software");
  EXPECT_EQ(ComponentText(software), "software");
  software.set_rank(2);
  EXPECT_EQ(ComponentText(software), "software (rank 2)");
  v1::Component config = Component("config");
  config.set_node("n0");
  EXPECT_EQ(ComponentText(config), "config on n0");
  EXPECT_EQ(ComponentText(v1::Component()), "unknown");
}

TEST(Text, RanksAreFolded) {
  EXPECT_EQ(RankList({}), "");
  EXPECT_EQ(RankList({7}), "7");
  EXPECT_EQ(RankList({3, 0, 1, 2, 7, 9, 8}), "0-3, 7-9");
  EXPECT_EQ(RankList({5, 5}), "5");
}

TEST(Text, TerminalEscapesOfOthersAreNotPrinted) {
  EXPECT_EQ(Printable("a\033[2Jb\nc\td"), "a?[2Jb c d");
  EXPECT_EQ(Printable("x\xC2\x9By"), "x?y");
  EXPECT_EQ(Printable("café …"), "café …");
}

TEST(Text, ShortensByCharacters) {
  EXPECT_EQ(Columns("café"), 4);
  EXPECT_EQ(Shorten("café", 4), "café");
  EXPECT_EQ(Shorten("cafés", 4), "caf…");
  EXPECT_EQ(Shorten("ééééé", 3), "éé…");
  EXPECT_EQ(Shorten("abc", 1), "…");
  EXPECT_EQ(Shorten("abc", 0), "");
}

}  // namespace
}  // namespace c4::cli
