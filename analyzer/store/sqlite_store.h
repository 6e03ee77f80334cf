// Verdicts in one SQLite file: the protobuf as it is, beside the columns that are searched.
//
// WAL with synchronous=FULL: each commit is on the disk when Put() returns. Verdicts come less than
// once a second, so the flush costs nothing that anybody notices, and without it a power cut could
// take back a verdict that has been acted upon. The file is locked for as long as it is open: two
// analyzers on one file are refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/store/sqlite.h"
#include "analyzer/store/verdict_store.h"

namespace c4::store {

// Resolved verdicts beyond this are forgotten at the next start: years of incidents, some 200 MiB.
inline constexpr int kVerdictsMax = 100'000;

class SqliteStore final : public VerdictStore {
 public:
  // Creates the file and its directory if they are missing, and brings an older schema up to date.
  // Errors name the file: kDataLoss when it is damaged or not ours, kUnavailable when another
  // process has it, kFailedPrecondition when a newer version wrote it.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path);

  absl::Status Put(const std::vector<v1::Verdict>& verdicts) override;
  absl::StatusOr<std::vector<v1::Verdict>> LoadOpen() override;
  absl::StatusOr<std::vector<v1::Verdict>> LoadRecent(int count_max) override;

  // The file was not there before.
  bool created() const { return created_; }

 private:
  explicit SqliteStore(Database database) : database_(std::move(database)) {}
  absl::Status Prepare();
  absl::Status CheckOurs();
  absl::Status Migrate();
  absl::StatusOr<std::vector<v1::Verdict>> Load(Statement& select);

  Database database_;
  bool created_ = false;
};

}  // namespace c4::store
