#include "analyzer/store/sqlite.h"

#include "common/check.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::store {
namespace {

absl::StatusCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kNotFound;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::StatusOr<Database> Database::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  // One owner thread: SQLite's own locks are not needed.
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(path, handle);
  if (code != SQLITE_OK) return database.Error("open");
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

absl::Status Database::Error(std::string_view doing) const {
  const int code = handle_ ? sqlite3_extended_errcode(handle_.get()) : SQLITE_NOMEM;
  const char* text = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
  return {CodeOf(code), fmt::format("{}: cannot {}: {}", path_, doing, text)};
}

absl::Status Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return Error(sql);
}

absl::StatusOr<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &handle, nullptr) != SQLITE_OK) {
    return Error(sql);
  }
  return Statement(this, handle);
}

absl::StatusOr<std::int64_t> Database::QueryInt(std::string_view sql) {
  C4_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  C4_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

// A bind fails only for a parameter that is not there or without memory: ours to get right.
void Statement::Bind(int parameter, std::string_view text) {
  C4_CHECK(sqlite3_bind_text64(handle_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8) == SQLITE_OK);
}
void Statement::Bind(int parameter, std::int64_t number) {
  C4_CHECK(sqlite3_bind_int64(handle_.get(), parameter, number) == SQLITE_OK);
}
void Statement::BindBlob(int parameter, std::string_view bytes) {
  C4_CHECK(sqlite3_bind_blob64(handle_.get(), parameter, bytes.data(), bytes.size(),
                               SQLITE_TRANSIENT) == SQLITE_OK);
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->Error(sqlite3_sql(handle_.get()));
}

void Statement::Reset() { sqlite3_reset(handle_.get()); }

std::string_view Statement::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace c4::store
