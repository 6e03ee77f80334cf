// All of the hook at once, in this process and so under its sanitizers: threads that train, split
// and abort while the poller polls. One test: a process has one hook.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "nccl_hook/hook.h"
#include "nccl_hook/real_dlsym.h"
#include "nccl_hook/wrap/wrappers.h"
#include "tests/unit/nccl_hook/hook_file.h"

namespace c4::hook {

// No interposer in this program.
DlsymFunction RealDlsym() { return ::dlsym; }

namespace {

constexpr int kThreads = 4;
constexpr int kSteps = 300;
constexpr DataType kFloat = 7;

std::atomic<std::uint64_t> g_calls{0};

Stream StreamNumber(int number) {
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(number + 1) * 256);
}

void AllReduce(CommHandle communicator, Stream stream) {
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 1, kFloat, 0, communicator, stream), kSuccess);
  g_calls.fetch_add(1, std::memory_order_relaxed);
}

// What a rank's thread does in a step; every 50th it gets a new pair of communicators.
void Train(int thread) {
  CommHandle world = nullptr;
  CommHandle child = nullptr;
  for (int step = 0; step < kSteps; ++step) {
    if (step % 50 == 0) {
      UniqueId id;
      EXPECT_EQ(ncclGetUniqueId(&id), kSuccess);
      EXPECT_EQ(ncclCommInitRank(&world, 8, id, thread), kSuccess);
      EXPECT_EQ(ncclCommSplit(world, 0, 0, &child, nullptr), kSuccess);
    }
    AllReduce(world, StreamNumber(thread));
    ncclGroupStart();
    AllReduce(child, StreamNumber(thread));
    AllReduce(world, StreamNumber(kThreads + thread));
    AllReduce(world, StreamNumber(2 * kThreads));  // a stream that the threads share
    ncclGroupEnd();
    AllReduce(child, StreamNumber(2 * kThreads));
    if (step % 50 == 49) {
      EXPECT_EQ(ncclCommDestroy(child), kSuccess);
      // Some are aborted by another thread, as a watchdog does.
      if (thread % 2 == 0) {
        std::thread([world] { ncclCommAbort(world); }).join();
      } else {
        EXPECT_EQ(ncclCommDestroy(world), kSuccess);
      }
    }
  }
}

bool IsSettled(const HookFile& file) {
  return std::none_of(file.operations.begin(), file.operations.end(),
                      [](const SeenOperation& operation) { return operation.is_in_flight; });
}

TEST(HookStress, RecordsEveryCallOnce) {
  std::string directory = testing::TempDir() + "c4-hook-stress-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  setenv("C4_RUN_DIR", directory.c_str(), 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(Train, t);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::string path = std::filesystem::directory_iterator(directory)->path();
  std::optional<HookFile> file = ReadHookFile(path);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!(file.has_value() && IsSettled(*file)) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    file = ReadHookFile(path);
  }
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(IsSettled(*file));
  EXPECT_EQ(file->head, g_calls.load());
  EXPECT_EQ(file->unknown_communicator, 0U);
  EXPECT_EQ(file->operations.size() + file->dropped, g_calls.load());
  // Each number of each communicator once, none missing.
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::set<std::uint64_t>> numbers;
  for (const SeenOperation& operation : file->operations) {
    std::set<std::uint64_t>& seen = numbers[{operation.communicator, operation.generation}];
    EXPECT_TRUE(seen.insert(operation.sequence).second);
    EXPECT_GE(operation.return_ns, operation.enqueue_ns);
    if (operation.end_ns != 0) {
      EXPECT_GE(operation.start_ns, operation.enqueue_ns);
      EXPECT_GE(operation.end_ns, operation.start_ns);
    } else {
      EXPECT_NE(operation.flags, 0);  // why there are no times
    }
  }
  for (const auto& [communicator, seen] : numbers) {
    EXPECT_EQ(seen.size(), *seen.rbegin() + 1);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace c4::hook
