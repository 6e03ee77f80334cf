// SQLite's C interface with RAII and absl::Status; no more of it than the store needs. Every error
// names the database file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace c4::store {

class Statement;

class Database {
 public:
  // `path` ":memory:" is a database without a file.
  static absl::StatusOr<Database> Open(const std::string& path);

  absl::Status Execute(const char* sql);
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  absl::StatusOr<std::int64_t> QueryInt(std::string_view sql);

  // Of the last failed call on this database.
  absl::Status Error(std::string_view doing) const;
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Parameters and columns count as SQLite counts them: from 1 and from 0. The database outlives it.
class Statement {
 public:
  Statement(const Database* database, sqlite3_stmt* handle)
      : database_(database), handle_(handle) {}

  void Bind(int parameter, std::string_view text);
  void Bind(int parameter, std::int64_t number);
  void BindBlob(int parameter, std::string_view bytes);

  // True: a row is there; false: done.
  absl::StatusOr<bool> Step();
  // Ready to be bound and stepped again.
  void Reset();

  std::string_view Blob(int column) const;
  std::int64_t Int(int column) const { return sqlite3_column_int64(handle_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace c4::store
