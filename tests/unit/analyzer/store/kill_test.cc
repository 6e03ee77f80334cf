// The store under kill -9: a child writes verdicts and reports each commit through a pipe; it is
// killed in the middle; whatever it reported must be there, once.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "analyzer/store/sqlite_store.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace c4::store {
namespace {

constexpr int kRounds = 20;

v1::Verdict NumberedVerdict(int round, int number) {
  v1::Verdict verdict;
  verdict.set_id(fmt::format("r{}-{}", round, number));
  verdict.set_status("confirmed");
  verdict.set_detected(round * 1'000'000 + number);
  verdict.set_summary(std::string(300, 'x'));
  return verdict;
}

// Never returns.
[[noreturn]] void WriteUntilKilled(const std::string& path, int round, int report) {
  auto store = SqliteStore::Open(path);
  if (!store.ok()) _exit(1);
  for (int number = 0;; ++number) {
    // Two at a time: both or none. The second is written twice, as a verdict that has changed.
    if (!(*store)
             ->Put({NumberedVerdict(round, 2 * number), NumberedVerdict(round, 2 * number + 1)})
             .ok() ||
        !(*store)->Put({NumberedVerdict(round, 2 * number + 1)}).ok()) {
      _exit(1);
    }
    if (write(report, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }
}

TEST(StoreUnderKill, NothingCommittedIsLostAndNothingIsThereTwice) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / fmt::format("kill_{}", ::getpid());
  std::filesystem::create_directories(directory);
  const std::string path = directory / "analyzer.db";
  std::mt19937 random(20250601);
  std::map<int, int> committed;  // round -> last number reported

  for (int round = 0; round < kRounds; ++round) {
    int report[2];
    ASSERT_EQ(pipe(report), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(report[0]);
      WriteUntilKilled(path, round, report[1]);
    }
    close(report[1]);
    // Killed after a random number of commits, which is at a random place in the next one.
    const int last = std::uniform_int_distribution<int>(0, 40)(random);
    int number = -1;
    while (number < last && read(report[0], &number, sizeof(number)) == sizeof(number)) {
    }
    kill(child, SIGKILL);
    while (read(report[0], &number, sizeof(number)) == sizeof(number)) {
    }
    close(report[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed by itself in round " << round;
    committed[round] = number;

    const auto store = SqliteStore::Open(path);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto verdicts = (*store)->LoadRecent(1'000'000);
    ASSERT_TRUE(verdicts.ok()) << verdicts.status();
    std::map<std::string, int> seen;
    for (const v1::Verdict& verdict : *verdicts) ++seen[verdict.id()];
    EXPECT_EQ(seen.size(), verdicts->size()) << "an id is there twice";
    EXPECT_EQ(seen.size() % 2, 0) << "half a transaction";
    for (const auto& [earlier, numbers] : committed) {
      for (int i = 0; i < 2 * (numbers + 1); ++i) {
        ASSERT_EQ(seen[fmt::format("r{}-{}", earlier, i)], 1) << "round " << earlier << " id " << i;
      }
    }
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace c4::store
