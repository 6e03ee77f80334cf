#include "analyzer/store/sqlite_store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::Verdict Verdict(const std::string& id, std::int64_t detected,
                    const std::string& status = "confirmed") {
  v1::Verdict verdict;
  verdict.set_id(id);
  verdict.set_job("j1");
  verdict.set_class_("process_failure");
  verdict.set_severity("fault");
  verdict.set_status(status);
  verdict.set_detected(detected);
  verdict.mutable_component()->set_rank(0);
  verdict.add_evidence()->set_text("exited with signal 9");
  return verdict;
}

std::vector<std::string> Ids(const absl::StatusOr<std::vector<v1::Verdict>>& verdicts) {
  std::vector<std::string> ids;
  EXPECT_TRUE(verdicts.ok()) << verdicts.status();
  if (verdicts.ok()) {
    for (const v1::Verdict& verdict : *verdicts) ids.push_back(verdict.id());
  }
  return ids;
}

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStoreTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   fmt::format("store_{}", ::getpid())),
        path_(directory_ / "analyzer.db") {
    std::filesystem::create_directories(directory_);
  }
  ~SqliteStoreTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<SqliteStore> Open() {
    auto store = SqliteStore::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  absl::Status OpenError() { return SqliteStore::Open(path_).status(); }
  void WriteFile(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  const std::filesystem::path directory_;
  const std::string path_;
};

TEST_F(SqliteStoreTest, KeepsVerdictsOverARestart) {
  {
    const auto store = Open();
    EXPECT_TRUE(store->created());
    ASSERT_TRUE(store->Put({Verdict("a", 1), Verdict("b", 3, "resolved"), Verdict("c", 2)}).ok());
  }
  const auto store = Open();
  EXPECT_FALSE(store->created());
  EXPECT_THAT(Ids(store->LoadOpen()), ElementsAre("a", "c"));
  EXPECT_THAT(Ids(store->LoadRecent(2)), ElementsAre("b", "c"));
  EXPECT_EQ(store->LoadOpen()->front().SerializeAsString(), Verdict("a", 1).SerializeAsString());
}

TEST_F(SqliteStoreTest, TheSameIdIsTheSameVerdict) {
  const auto store = Open();
  ASSERT_TRUE(store->Put({Verdict("a", 1, "suspected")}).ok());
  ASSERT_TRUE(store->Put({Verdict("a", 1, "confirmed")}).ok());
  ASSERT_THAT(Ids(store->LoadRecent(10)), ElementsAre("a"));
  EXPECT_EQ(store->LoadRecent(10)->front().status(), "confirmed");
  ASSERT_TRUE(store->Put({Verdict("a", 1, "resolved")}).ok());
  EXPECT_THAT(Ids(store->LoadOpen()), IsEmpty());
}

TEST_F(SqliteStoreTest, CreatesItsDirectory) {
  const auto store = SqliteStore::Open(directory_ / "a" / "b" / "analyzer.db");
  EXPECT_TRUE(store.ok()) << store.status();
}

TEST_F(SqliteStoreTest, LivesInMemory) {
  const auto store = SqliteStore::Open(":memory:");
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->Put({Verdict("a", 1)}).ok());
  EXPECT_THAT(Ids((*store)->LoadOpen()), ElementsAre("a"));
}

TEST_F(SqliteStoreTest, AFileThatIsNoDatabaseIsNamedAndLeftAlone) {
  const std::string text = "dear diary " + std::string(5000, '.');
  WriteFile(text);
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Move the file away"));
  EXPECT_EQ(std::filesystem::file_size(path_), text.size());
}

TEST_F(SqliteStoreTest, ADamagedDatabaseIsNamed) {
  {
    const auto store = Open();
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(store->Put({Verdict(fmt::format("v{}", i), i)}).ok());
    }
  }
  // Everything after the first page.
  const auto size = std::filesystem::file_size(path_);
  ASSERT_GT(size, 8192);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(size - 4096, '\x5a');
  file.close();
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsNotTouched) {
  {
    auto other = Database::Open(path_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other->Execute("CREATE TABLE precious (x)").ok());
  }
  EXPECT_THAT(std::string(OpenError().message()), HasSubstr("a database of another program"));
}

TEST_F(SqliteStoreTest, ANewerSchemaIsRefused) {
  Open().reset();
  {
    auto database = Database::Open(path_);
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 99").ok());
  }
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("newer c4-analyzer"));
}

TEST_F(SqliteStoreTest, TwoAnalyzersCannotShareAFile) {
  const auto store = Open();
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("in use by another process"));
}

TEST_F(SqliteStoreTest, AnUnwritableDirectoryIsNamed) {
  const auto store = SqliteStore::Open("/proc/nope/analyzer.db");
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("/proc/nope/analyzer.db"));
}

}  // namespace
}  // namespace c4::store
