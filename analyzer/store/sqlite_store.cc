#include "analyzer/store/sqlite_store.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::store {
namespace {

// "C4VD" in the file's header, so that somebody else's database is not written to.
constexpr std::int64_t kApplicationId = 0x43345644;

// Entry i leads from schema version i to i + 1. Never edit one that has been released; append.
constexpr std::array kMigrations = {
    R"sql(
CREATE TABLE verdicts (
  id TEXT PRIMARY KEY,
  job TEXT NOT NULL,
  class TEXT NOT NULL,
  severity TEXT NOT NULL,
  status TEXT NOT NULL,
  onset INTEGER NOT NULL,
  detected INTEGER NOT NULL,
  resolved INTEGER NOT NULL,
  verdict BLOB NOT NULL          -- c4.v1.Verdict
) WITHOUT ROWID;
CREATE INDEX verdicts_by_detected ON verdicts (detected);
CREATE INDEX verdicts_by_job ON verdicts (job, detected);
CREATE INDEX verdicts_open ON verdicts (detected) WHERE status != 'resolved';
)sql",
};

absl::Status CreateDirectoryOf(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (path == ":memory:" || directory.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), fmt::format("{}: cannot create its directory", path));
}

absl::Status Explain(const std::string& path, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return absl::UnavailableError(
          fmt::format("{}: in use by another process; is another c4-analyzer running?", path));
    case absl::StatusCode::kDataLoss:
      return absl::DataLossError(fmt::format(
          "{}. Move the file away (with its -wal) to start with no history of verdicts.",
          ToStd(status.message())));
    default:
      return status;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& path) {
  C4_RETURN_IF_ERROR(CreateDirectoryOf(path));
  C4_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  auto store = std::unique_ptr<SqliteStore>(new SqliteStore(std::move(database)));
  if (const absl::Status status = store->Prepare(); !status.ok()) return Explain(path, status);
  return store;
}

absl::Status SqliteStore::Prepare() {
  C4_RETURN_IF_ERROR(database_.Execute("PRAGMA locking_mode = EXCLUSIVE"));
  C4_RETURN_IF_ERROR(CheckOurs());
  C4_RETURN_IF_ERROR(database_.Execute("PRAGMA journal_mode = WAL"));
  C4_RETURN_IF_ERROR(database_.Execute("PRAGMA synchronous = FULL"));
  C4_RETURN_IF_ERROR(Migrate());
  const std::string prune = fmt::format(
      "DELETE FROM verdicts WHERE status = 'resolved' AND id NOT IN "
      "(SELECT id FROM verdicts ORDER BY detected DESC LIMIT {})",
      kVerdictsMax);
  return database_.Execute(prune.c_str());
}

absl::Status SqliteStore::CheckOurs() {
  C4_ASSIGN_OR_RETURN(const std::int64_t id, database_.QueryInt("PRAGMA application_id"));
  C4_ASSIGN_OR_RETURN(const std::int64_t tables,
                      database_.QueryInt("SELECT count(*) FROM sqlite_schema"));
  created_ = tables == 0;
  if (id != kApplicationId && !(id == 0 && created_)) {
    return absl::DataLossError(fmt::format("{}: a database of another program", database_.path()));
  }
  C4_ASSIGN_OR_RETURN(Statement check, database_.Prepare("PRAGMA quick_check(1)"));
  C4_ASSIGN_OR_RETURN(const bool row, check.Step());
  if (row && check.Blob(0) != "ok") {
    return absl::DataLossError(fmt::format("{}: damaged: {}", database_.path(), check.Blob(0)));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Migrate() {
  C4_ASSIGN_OR_RETURN(const std::int64_t version, database_.QueryInt("PRAGMA user_version"));
  constexpr auto kVersion = static_cast<std::int64_t>(kMigrations.size());
  if (version < 0 || version > kVersion) {
    return absl::FailedPreconditionError(
        fmt::format("{}: schema version {}, this program knows {}. A newer c4-analyzer wrote it.",
                    database_.path(), version, kVersion));
  }
  for (std::int64_t from = version; from < kVersion; ++from) {
    // One transaction: a crash in the middle leaves the version before.
    const std::string sql = fmt::format(
        "BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
        kMigrations[static_cast<std::size_t>(from)], kApplicationId, from + 1);
    C4_RETURN_IF_ERROR(database_.Execute(sql.c_str()));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Put(const std::vector<v1::Verdict>& verdicts) {
  if (verdicts.empty()) return absl::OkStatus();
  C4_ASSIGN_OR_RETURN(Statement upsert,
                      database_.Prepare("INSERT OR REPLACE INTO verdicts "
                                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  C4_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  absl::Status status;
  for (const v1::Verdict& verdict : verdicts) {
    upsert.Bind(1, verdict.id());
    upsert.Bind(2, verdict.job());
    upsert.Bind(3, verdict.class_());
    upsert.Bind(4, verdict.severity());
    upsert.Bind(5, verdict.status());
    upsert.Bind(6, verdict.onset());
    upsert.Bind(7, verdict.detected());
    upsert.Bind(8, verdict.resolved());
    upsert.BindBlob(9, verdict.SerializeAsString());
    status = upsert.Step().status();
    upsert.Reset();
    if (!status.ok()) break;
  }
  if (status.ok()) status = database_.Execute("COMMIT");
  // The first error is the one to tell; a rollback after a failed commit may have nothing to do.
  if (!status.ok()) database_.Execute("ROLLBACK").IgnoreError();
  return status;
}

absl::StatusOr<std::vector<v1::Verdict>> SqliteStore::Load(Statement& select) {
  std::vector<v1::Verdict> verdicts;
  while (true) {
    C4_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return verdicts;
    const std::string_view bytes = select.Blob(0);
    if (!verdicts.emplace_back().ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return absl::DataLossError(
          fmt::format("{}: a verdict that cannot be read", database_.path()));
    }
  }
}

absl::StatusOr<std::vector<v1::Verdict>> SqliteStore::LoadOpen() {
  C4_ASSIGN_OR_RETURN(Statement select,
                      database_.Prepare("SELECT verdict FROM verdicts WHERE status != 'resolved' "
                                        "ORDER BY detected, id"));
  return Load(select);
}

absl::StatusOr<std::vector<v1::Verdict>> SqliteStore::LoadRecent(int count_max) {
  C4_ASSIGN_OR_RETURN(
      Statement select,
      database_.Prepare("SELECT verdict FROM verdicts ORDER BY detected DESC, id LIMIT ?1"));
  select.Bind(1, count_max);
  return Load(select);
}

}  // namespace c4::store
