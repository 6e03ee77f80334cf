#include "analyzer/ingest/json_fields.h"

#include "fmt/format.h"

namespace c4::ingest {

void JsonFields::Fail(const char* key, std::string_view what) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(fmt::format("{}.{}: {}", kind_, key, what));
  }
}

const nlohmann::json* JsonFields::Find(const char* key, bool required) {
  const auto found = object_.find(key);
  if (found != object_.end()) return &*found;
  if (required) Fail(key, "missing");
  return nullptr;
}

std::int64_t JsonFields::Signed(const char* key, std::int64_t low, std::int64_t high,
                                std::int64_t absent, bool required) {
  const nlohmann::json* value = Find(key, required);
  if (value == nullptr) return absent;
  // The parser keeps what is not negative as unsigned.
  if (const auto* number = value->get_ptr<const nlohmann::json::number_unsigned_t*>()) {
    if (*number <= static_cast<std::uint64_t>(high)) return static_cast<std::int64_t>(*number);
  } else if (const auto* negative = value->get_ptr<const nlohmann::json::number_integer_t*>()) {
    if (*negative >= low && *negative <= high) return *negative;
  } else {
    Fail(key, "not an integer");
    return absent;
  }
  Fail(key, fmt::format("not in {}…{}", low, high));
  return absent;
}

std::uint64_t JsonFields::Unsigned(const char* key, std::uint64_t high, std::uint64_t absent,
                                   bool required) {
  const nlohmann::json* value = Find(key, required);
  if (value == nullptr) return absent;
  if (const auto* number = value->get_ptr<const nlohmann::json::number_unsigned_t*>()) {
    if (*number <= high) return *number;
  }
  Fail(key, fmt::format("not an integer in 0…{}", high));
  return absent;
}

double JsonFields::Number(const char* key, std::optional<double> absent) {
  const nlohmann::json* value = Find(key, !absent);
  if (value == nullptr) return absent.value_or(0);
  if (!value->is_number()) {
    Fail(key, "not a number");
    return 0;
  }
  return value->get<double>();
}

std::string JsonFields::String(const char* key, std::optional<std::string> absent) {
  const nlohmann::json* value = Find(key, !absent);
  if (value == nullptr) return std::move(absent).value_or("");
  const auto* text = value->get_ptr<const std::string*>();
  if (text == nullptr) {
    Fail(key, "not a string");
    return "";
  }
  return *text;
}

bool JsonFields::Bool(const char* key) {
  const nlohmann::json* value = Find(key, /*required=*/false);
  if (value == nullptr) return false;
  const auto* flag = value->get_ptr<const bool*>();
  if (flag == nullptr) Fail(key, "not true or false");
  return flag != nullptr && *flag;
}

std::vector<int> JsonFields::Ints(const char* key, std::size_t count_max) {
  std::vector<int> numbers;
  const nlohmann::json* value = Find(key, /*required=*/true);
  if (value == nullptr) return numbers;
  if (!value->is_array() || value->size() > count_max) {
    Fail(key, fmt::format("not a list of at most {} integers", count_max));
    return numbers;
  }
  numbers.reserve(value->size());
  for (const nlohmann::json& element : *value) {
    // The parser keeps what is not negative as unsigned, and a pointer to a signed integer would
    // read 2^64 - 1 as -1.
    const auto* number = element.get_ptr<const nlohmann::json::number_unsigned_t*>();
    const auto* negative = element.get_ptr<const nlohmann::json::number_integer_t*>();
    constexpr int kMax = std::numeric_limits<int>::max();
    if (number != nullptr && *number <= kMax) {
      numbers.push_back(static_cast<int>(*number));
    } else if (number == nullptr && negative != nullptr && *negative >= -kMax) {
      numbers.push_back(static_cast<int>(*negative));
    } else {
      Fail(key, "an element is not an integer");
      return {};
    }
  }
  return numbers;
}

std::vector<std::string> JsonFields::Strings(const char* key, std::size_t count_max) {
  std::vector<std::string> strings;
  const nlohmann::json* value = Find(key, /*required=*/false);
  if (value == nullptr) return strings;
  if (!value->is_array()) {
    Fail(key, "not a list of strings");
    return strings;
  }
  for (const nlohmann::json& element : *value) {
    const auto* text = element.get_ptr<const std::string*>();
    if (text == nullptr) {
      Fail(key, "an element is not a string");
      return {};
    }
    if (strings.size() == count_max) break;
    strings.push_back(*text);
  }
  return strings;
}

}  // namespace c4::ingest
