// Communicator handle -> index in the communicator table. Lock-free for readers (any application
// thread, on the path of a collective); writers hold the registry's lock. Fixed size, no
// allocation.
//
// Open addressing with linear probing. A removed entry becomes a tombstone; tombstones at the end
// of a chain turn back into empty cells, so that the chains stay short over many init/destroy
// cycles. A reader that races with a removal finds the entry or does not: using a communicator
// while destroying it is the application's error, and either answer is harmless.
#pragma once

#include <atomic>
#include <cstdint>

namespace c4::hook {

class PointerMap {
 public:
  static constexpr std::uint32_t kNotFound = 0xffffffff;

  std::uint32_t Find(const void* pointer) const {
    const auto key = reinterpret_cast<std::uintptr_t>(pointer);
    if (key <= kTombstone) {
      return kNotFound;
    }
    for (std::uint32_t step = 0, cell = Start(key); step < kCells; ++step, cell = Next(cell)) {
      // Acquire; pairs with the release in Insert: the value belongs to this key.
      const std::uintptr_t found = cells_[cell].key.load(std::memory_order_acquire);
      if (found == key) {
        // Acquire, so that the second look at the key comes after it; pairs with Insert.
        const std::uint32_t value = cells_[cell].value.load(std::memory_order_acquire);
        return cells_[cell].key.load(std::memory_order_relaxed) == key ? value : kNotFound;
      }
      if (found == kEmpty) {
        return kNotFound;
      }
    }
    return kNotFound;
  }

  // False when the map is full. A pointer that is already there gets the new value: NCCL has reused
  // the address of a communicator whose end we did not see.
  bool Insert(const void* pointer, std::uint32_t value) {
    const auto key = reinterpret_cast<std::uintptr_t>(pointer);
    if (key <= kTombstone) {
      return false;
    }
    Remove(pointer);
    for (std::uint32_t step = 0, cell = Start(key); step < kCells; ++step, cell = Next(cell)) {
      if (cells_[cell].key.load(std::memory_order_relaxed) <= kTombstone) {
        cells_[cell].value.store(value, std::memory_order_release);  // pairs with Find
        cells_[cell].key.store(key, std::memory_order_release);      // pairs with Find
        return true;
      }
    }
    return false;
  }

  void Remove(const void* pointer) {
    const auto key = reinterpret_cast<std::uintptr_t>(pointer);
    if (key <= kTombstone) {
      return;
    }
    for (std::uint32_t step = 0, cell = Start(key); step < kCells; ++step, cell = Next(cell)) {
      const std::uintptr_t found = cells_[cell].key.load(std::memory_order_relaxed);
      if (found == kEmpty) {
        return;
      }
      if (found == key) {
        // Release; pairs with the acquire in Find: whoever reads the tombstone goes on probing.
        cells_[cell].key.store(kTombstone, std::memory_order_release);
        TrimTombstones(cell);
        return;
      }
    }
  }

 private:
  // Four times the communicators that the table holds (static_assert in communicators.cc).
  static constexpr std::uint32_t kCells = 1024;
  static constexpr std::uintptr_t kEmpty = 0;
  static constexpr std::uintptr_t kTombstone = 1;

  struct Cell {
    std::atomic<std::uintptr_t> key;
    std::atomic<std::uint32_t> value;
  };

  static std::uint32_t Start(std::uintptr_t key) {
    // Fibonacci hashing: 2^64 / golden ratio; the top 10 bits choose among 1,024 cells.
    return static_cast<std::uint32_t>((std::uint64_t{key} * 0x9e3779b97f4a7c15) >> 54);
  }
  static std::uint32_t Next(std::uint32_t cell) { return (cell + 1) & (kCells - 1); }
  static std::uint32_t Previous(std::uint32_t cell) { return (cell - 1) & (kCells - 1); }

  void TrimTombstones(std::uint32_t cell) {
    if (cells_[Next(cell)].key.load(std::memory_order_relaxed) != kEmpty) {
      return;
    }
    for (std::uint32_t step = 0; step < kCells; ++step, cell = Previous(cell)) {
      if (cells_[cell].key.load(std::memory_order_relaxed) != kTombstone) {
        return;
      }
      cells_[cell].key.store(kEmpty, std::memory_order_release);  // pairs with Find
    }
  }

  Cell cells_[kCells] = {};
};

}  // namespace c4::hook
