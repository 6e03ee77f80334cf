#include "agent/telemetry/nic_filter.h"

#include "gtest/gtest.h"

namespace c4::agent {
namespace {

TEST(NicFilterTest, FollowsNcclsSyntax) {
  const struct {
    const char* specification;
    const char* device;
    bool is_taken;
  } cases[] = {
      {"", "eth0", true},
      {"eth", "eth0", true},
      {"eth", "ens3", false},
      {"=eth0", "eth0", true},
      {"=eth0", "eth01", false},
      {"eth0", "eth01", true},
      {"^docker", "eth0", true},
      {"^docker", "docker0", false},
      {"^=eth0", "eth0", false},
      {"^=eth0", "eth01", true},
      {"eth,ib", "ib0", true},
      {"=eth0,=ib0", "ib0", false},
      {"mlx5_0:1", "mlx5_0", true},
      {"=mlx5_1:1,mlx5_2:1", "mlx5_2", true},
      {"=mlx5_1:1", "mlx5_10", false},
      {",,", "eth0", true},
      {"^", "eth0", true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(NicFilter(c.specification).Takes(c.device), c.is_taken)
        << c.specification << " " << c.device;
  }
}

}  // namespace
}  // namespace c4::agent
