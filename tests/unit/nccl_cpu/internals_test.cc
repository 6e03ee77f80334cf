// The libraries' pure functions: hashes, half-precision numbers, fault and interface filters.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "tests/nccl_cpu/fault.h"
#include "tests/nccl_cpu/nccl/comm_hash.h"
#include "tests/nccl_cpu/nccl/half.h"
#include "tests/nccl_cpu/nccl/interface.h"

namespace c4 {
namespace {

using nccl_cpu::Bfloat16;
using nccl_cpu::Float16;

ncclUniqueId IdOf(const std::vector<unsigned char>& head) {
  ncclUniqueId id{};
  std::memcpy(&id, head.data(), head.size());
  return id;
}

// Ids and hashes that NCCL 2.28.9 printed under NCCL_DEBUG=TRACE.
TEST(CommHash, IsNcclsOwn) {
  EXPECT_EQ(nccl_cpu::RootCommHash(IdOf({0x61, 0xda, 0x17, 0x37, 0x28, 0x8e, 0xc8, 0xf2, 0x02, 0x00,
                                         0xe5, 0x37, 0x7f, 0x00, 0x00, 0x01})),
            0x93617b9bfe536bb4u);
  EXPECT_EQ(nccl_cpu::RootCommHash(IdOf({0xd4, 0x7c, 0x47, 0x79, 0x6c, 0xc1, 0x7c, 0xb0, 0x02, 0x00,
                                         0xc7, 0x9f, 0x7f, 0x00, 0x00, 0x01})),
            0xec2a5d25bffdd771u);
}

TEST(CommHash, SplitsDiffer) {
  std::set<uint64_t> hashes;
  for (const uint64_t parent : {1u, 2u}) {
    for (int split = 1; split <= 3; ++split) {
      for (int color = 0; color < 3; ++color) {
        hashes.insert(nccl_cpu::SplitCommHash(parent, split, color));
      }
    }
  }
  EXPECT_EQ(hashes.size(), 18u);
}

TEST(Half, EveryFloat16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const float wide = half.ToFloat();
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(Float16::FromFloat(wide).ToFloat()));
    } else {
      EXPECT_EQ(Float16::FromFloat(wide).bits, half.bits);
    }
    const Bfloat16 brain{static_cast<uint16_t>(bits)};
    if (!std::isnan(brain.ToFloat())) {
      EXPECT_EQ(Bfloat16::FromFloat(brain.ToFloat()).bits, brain.bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Float16{0x3c00}.ToFloat(), 1.0F);
  EXPECT_EQ(Float16{0x0001}.ToFloat(), 0x1p-24F);
  EXPECT_EQ(Float16::FromFloat(1 + 0x1p-11F).bits, 0x3c00);      // a tie, to even
  EXPECT_EQ(Float16::FromFloat(1 + 3 * 0x1p-11F).bits, 0x3c02);  // a tie, to even
  EXPECT_EQ(Float16::FromFloat(1 + 0x1.1p-11F).bits, 0x3c01);
  EXPECT_EQ(Float16::FromFloat(0x1p-25F).bits, 0x0000);     // a tie, to even
  EXPECT_EQ(Float16::FromFloat(-0x1.8p-24F).bits, 0x8002);  // a tie, to even
  EXPECT_EQ(Float16::FromFloat(65519.0F).bits, 0x7bff);
  EXPECT_EQ(Float16::FromFloat(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Float16::FromFloat(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_EQ(Bfloat16::FromFloat(1 + 0x1p-8F).bits, 0x3f80);
  EXPECT_EQ(Bfloat16::FromFloat(1 + 3 * 0x1p-8F).bits, 0x3f82);
  EXPECT_TRUE(std::isnan(Bfloat16::FromFloat(std::nanf("")).ToFloat()));
}

TEST(FaultPlan, ParsesWhatItKnowsAndIgnoresTheRest) {
  const auto plan = cpu::FaultPlan::Parse(
      "drop-link:peer=3:after=100;unknown:x=1;slow-kernel:percent=20;stuck-kernel:after=7");
  EXPECT_EQ(plan.drop_link_peer, 3);
  EXPECT_EQ(plan.drop_link_after, 100);
  EXPECT_EQ(plan.slow_kernel_percent, 20);
  EXPECT_EQ(plan.slow_kernel_after, 0);
  EXPECT_EQ(plan.stuck_kernel_after, 7);
  const auto none = cpu::FaultPlan::Parse(";;drop-link:peer=x;slow-kernel:percent");
  EXPECT_EQ(none.drop_link_peer, -1);
  EXPECT_EQ(none.stuck_kernel_after, cpu::FaultPlan::kNever);
  EXPECT_EQ(none.slow_kernel_percent, 0);
}

TEST(Interface, FilterIsAListOfPrefixes) {
  EXPECT_TRUE(nccl_cpu::MatchesFilter("eth0", "eth"));
  EXPECT_TRUE(nccl_cpu::MatchesFilter("hsn0", "eth,hsn"));
  EXPECT_FALSE(nccl_cpu::MatchesFilter("lo", "eth,hsn"));
  EXPECT_TRUE(nccl_cpu::MatchesFilter("eth0", "=eth0"));
  EXPECT_FALSE(nccl_cpu::MatchesFilter("eth01", "=eth0"));
  EXPECT_FALSE(nccl_cpu::MatchesFilter("docker0", "^docker,lo"));
  EXPECT_TRUE(nccl_cpu::MatchesFilter("eth0", "^docker,lo"));
  EXPECT_FALSE(nccl_cpu::MatchesFilter("lo", "^=lo"));
}

}  // namespace
}  // namespace c4
