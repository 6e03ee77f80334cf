#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "nccl_hook/timing/interval.h"

namespace c4::hook {
namespace {

constexpr std::uint32_t kCount = 64;

struct Pool {
  Pool() {
    pool.Attach(intervals.get());
    for (std::uint32_t i = kCount; i-- > 0;) {
      pool.Give(i);
    }
  }
  std::unique_ptr<Interval[]> intervals = std::make_unique<Interval[]>(kCount);
  IntervalPool pool;
};

TEST(IntervalPool, LendsEachOnce) {
  Pool pool;
  std::set<std::uint32_t> taken;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(taken.insert(pool.pool.Take()).second);
  }
  EXPECT_EQ(pool.pool.Take(), kNoInterval);
  pool.pool.Give(17);
  EXPECT_EQ(pool.pool.Take(), 17U);
}

TEST(IntervalPool, LendsEachOnceToManyThreads) {
  Pool pool;
  std::atomic<int> users[kCount] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50'000; ++i) {
        const std::uint32_t taken = pool.pool.Take();
        if (taken == kNoInterval) {
          continue;
        }
        ASSERT_EQ(users[taken].fetch_add(1), 0);
        users[taken].fetch_sub(1);
        pool.pool.Give(taken);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::set<std::uint32_t> taken;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    taken.insert(pool.pool.Take());
  }
  EXPECT_EQ(taken.size(), kCount);
  EXPECT_EQ(taken.count(kNoInterval), 0U);
}

}  // namespace
}  // namespace c4::hook
