#include "agent/telemetry/proc_parsers.h"

#include <string>

#include "gtest/gtest.h"

namespace c4::agent {
namespace {

// A real line of Linux 6.1, the command changed.
constexpr char kStat[] =
    "4242 (py) thon ) 3) S 1 4242 4242 0 -1 4194560 31208 0 12 0 731 99 0 0 20 0 9 0 553321 "
    "4567891968 60312 18446744073709551615 1 1 0 0 0 0 0 16781312 17642 0 0 0 17 3 0 0 0 0 0 0 0 "
    "0 0 0 0 0 9\n";

TEST(ProcParsersTest, StatCountsFieldsFromTheLastBracket) {
  const auto stat = ParseStat(kStat);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->user_ticks, 731U);
  EXPECT_EQ(stat->system_ticks, 99U);
  EXPECT_EQ(stat->start_ticks, 553321U);
  EXPECT_EQ(stat->exit_code, 9);
}

TEST(ProcParsersTest, StatOfOldKernelsHasFewerFields) {
  const std::string text(kStat, std::string(kStat).find("4567891968"));
  ASSERT_TRUE(ParseStat(text).has_value());
  EXPECT_EQ(ParseStat(text)->start_ticks, 553321U);
}

TEST(ProcParsersTest, DamagedStatIsNothing) {
  for (const char* const text : {"", "4242", ")", "1 (a)", "1 (a) S", "1 (a) SS 1 2", "1 (a) S 1 2",
                                 "1 (a) S 1 1 1 0 -1 1 1 1 1 1 x 1 0 0 20 0 9 0 55 1",
                                 "1 (a) S 1 1 1 0 -1 1 1 1 1 1 1 1 0 0 20 0 9 0 "
                                 "99999999999999999999999 1"}) {
    EXPECT_FALSE(ParseStat(text).has_value()) << text;
  }
}

TEST(ProcParsersTest, Io) {
  const auto io = ParseIo(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n"
      "cancelled_write_bytes: 0\n");
  ASSERT_TRUE(io.has_value());
  EXPECT_EQ(io->read_bytes, 4096U);
  EXPECT_EQ(io->write_bytes, 8192U);
  EXPECT_FALSE(ParseIo("").has_value());
  EXPECT_FALSE(ParseIo("read_bytes: 1\n").has_value());
  EXPECT_FALSE(ParseIo("read_bytes: -1\nwrite_bytes: 1\n").has_value());
}

TEST(ProcParsersTest, InnermostPid) {
  EXPECT_EQ(ParseInnermostPid("Name:\ta\nNSpid:\t4242\t17\nNSpgid:\t1\n"), 17);
  EXPECT_EQ(ParseInnermostPid("NSpid:\t4242\n"), 4242);
  EXPECT_EQ(ParseInnermostPid("Name: NSpid: 3\n"), std::nullopt);
  EXPECT_EQ(ParseInnermostPid("NSpid:\n"), std::nullopt);
}

TEST(ProcParsersTest, Environ) {
  using namespace std::string_literals;
  const std::string environ = "A=1\0AB=2\0NCCL_IB_HCA=mlx5_0:1\0EMPTY=\0B"s;
  EXPECT_EQ(FindVariable(environ, "A"), "1");
  EXPECT_EQ(FindVariable(environ, "AB"), "2");
  EXPECT_EQ(FindVariable(environ, "NCCL_IB_HCA"), "mlx5_0:1");
  EXPECT_EQ(FindVariable(environ, "EMPTY"), "");
  EXPECT_EQ(FindVariable(environ, "B"), std::nullopt);
  EXPECT_EQ(FindVariable(environ, "HCA"), std::nullopt);
  EXPECT_EQ(FindVariable("", "A"), std::nullopt);
}

TEST(ProcParsersTest, Integers) {
  EXPECT_EQ(ParseInteger(" 12\n"), 12);
  EXPECT_EQ(ParseInteger("-1"), -1);
  for (const char* const text : {"", " ", "x", "1x", "1 2", "99999999999999999999"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace c4::agent
