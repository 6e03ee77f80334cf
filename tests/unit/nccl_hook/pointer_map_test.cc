#include "nccl_hook/pointer_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace c4::hook {
namespace {

void* Pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number * 0x1000); }

TEST(PointerMap, FindsWhatWasInserted) {
  PointerMap map;
  EXPECT_EQ(map.Find(Pointer(1)), PointerMap::kNotFound);
  EXPECT_TRUE(map.Insert(Pointer(1), 10));
  EXPECT_TRUE(map.Insert(Pointer(2), 20));
  EXPECT_EQ(map.Find(Pointer(1)), 10U);
  map.Remove(Pointer(1));
  EXPECT_EQ(map.Find(Pointer(1)), PointerMap::kNotFound);
  EXPECT_EQ(map.Find(Pointer(2)), 20U);
}

TEST(PointerMap, RefusesNull) {
  PointerMap map;
  EXPECT_FALSE(map.Insert(nullptr, 1));
  EXPECT_EQ(map.Find(nullptr), PointerMap::kNotFound);
  map.Remove(nullptr);
}

TEST(PointerMap, TakesTheNewValueForAReusedAddress) {
  PointerMap map;
  map.Insert(Pointer(1), 10);
  map.Insert(Pointer(1), 11);
  EXPECT_EQ(map.Find(Pointer(1)), 11U);
  map.Remove(Pointer(1));
  EXPECT_EQ(map.Find(Pointer(1)), PointerMap::kNotFound);
}

TEST(PointerMap, FillsUpAndEmpties) {
  PointerMap map;
  for (std::uintptr_t i = 1; i <= 1024; ++i) {
    ASSERT_TRUE(map.Insert(Pointer(i), static_cast<std::uint32_t>(i)));
  }
  EXPECT_FALSE(map.Insert(Pointer(2000), 1));
  EXPECT_EQ(map.Find(Pointer(2000)), PointerMap::kNotFound);
  for (std::uintptr_t i = 1; i <= 1024; ++i) {
    ASSERT_EQ(map.Find(Pointer(i)), i);
    map.Remove(Pointer(i));
  }
  EXPECT_TRUE(map.Insert(Pointer(2000), 1));
}

// The model is std::map; the seed is fixed, so a failure repeats.
TEST(PointerMap, BehavesLikeAMapOverManyLives) {
  PointerMap map;
  std::map<std::uintptr_t, std::uint32_t> model;
  std::mt19937 random(20240601);
  for (std::uint32_t step = 0; step < 200'000; ++step) {
    const std::uintptr_t number = 1 + random() % 400;
    if (model.size() < 256 && random() % 2 == 0) {
      map.Insert(Pointer(number), step);
      model[number] = step;
    } else {
      map.Remove(Pointer(number));
      model.erase(number);
    }
    const std::uintptr_t asked = 1 + random() % 400;
    const auto expected = model.find(asked);
    ASSERT_EQ(map.Find(Pointer(asked)),
              expected != model.end() ? expected->second : PointerMap::kNotFound)
        << step;
  }
}

TEST(PointerMap, CanBeReadWhileItChanges) {
  const auto map = std::make_unique<PointerMap>();
  // These stay; everything around them comes and goes.
  for (std::uintptr_t i = 1; i <= 64; ++i) {
    map->Insert(Pointer(i), static_cast<std::uint32_t>(i));
  }
  std::atomic<bool> is_done{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!is_done.load()) {
        for (std::uintptr_t i = 1; i <= 64; ++i) {
          ASSERT_EQ(map->Find(Pointer(i)), i);
        }
        for (std::uintptr_t i = 1000; i < 1200; ++i) {
          const std::uint32_t found = map->Find(Pointer(i));
          ASSERT_TRUE(found == PointerMap::kNotFound || found == i) << found;
        }
      }
    });
  }
  for (int round = 0; round < 300; ++round) {
    for (std::uintptr_t i = 1000; i < 1200; ++i) {
      map->Insert(Pointer(i), static_cast<std::uint32_t>(i));
    }
    for (std::uintptr_t i = 1000; i < 1200; ++i) {
      map->Remove(Pointer(i));
    }
  }
  is_done.store(true);
  for (std::thread& reader : readers) {
    reader.join();
  }
}

}  // namespace
}  // namespace c4::hook
