// Checked reading of a flat JSON object from an untrusted line: every access names the key and says
// what is wrong with it. The first error is kept and later reads return defaults, so that a parser
// reads all its fields in a row and asks once at the end.
//
// Not a validator of meaning (validate.h is): only of presence, type and what fits the type.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace c4::ingest {

class JsonFields {
 public:
  // `kind` prefixes the errors: "op.rank: …". The object must outlive this.
  JsonFields(std::string_view kind, const nlohmann::json& object) : kind_(kind), object_(object) {}

  // With a default: an absent key gives it. Without: an absent key is an error.
  template <typename Integer>
  Integer Int(const char* key, std::optional<Integer> absent = std::nullopt) {
    static_assert(sizeof(Integer) <= sizeof(std::int64_t));
    if constexpr (std::is_unsigned_v<Integer>) {
      return static_cast<Integer>(
          Unsigned(key, std::numeric_limits<Integer>::max(), absent.value_or(0), !absent));
    } else {
      return static_cast<Integer>(Signed(key, std::numeric_limits<Integer>::min(),
                                         std::numeric_limits<Integer>::max(), absent.value_or(0),
                                         !absent));
    }
  }

  double Number(const char* key, std::optional<double> absent = std::nullopt);
  std::string String(const char* key, std::optional<std::string> absent = std::nullopt);
  bool Bool(const char* key);  // absent: false
  std::vector<int> Ints(const char* key, std::size_t count_max);
  // Absent: empty. What is over `count_max` is left out.
  std::vector<std::string> Strings(const char* key, std::size_t count_max);

  const absl::Status& status() const { return status_; }
  const nlohmann::json& object() const { return object_; }

 private:
  std::int64_t Signed(const char* key, std::int64_t low, std::int64_t high, std::int64_t absent,
                      bool required);
  std::uint64_t Unsigned(const char* key, std::uint64_t high, std::uint64_t absent, bool required);
  const nlohmann::json* Find(const char* key, bool required);
  void Fail(const char* key, std::string_view what);

  std::string_view kind_;
  const nlohmann::json& object_;
  absl::Status status_;
};

}  // namespace c4::ingest
