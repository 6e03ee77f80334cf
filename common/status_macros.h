// Early return on absl::Status, because Debian's Abseil (20220623) ships no such macros.
//
//   C4_RETURN_IF_ERROR(Check(x));
//   C4_ASSIGN_OR_RETURN(auto file, OpenFile(path));
//
// Usable in functions that return absl::Status or absl::StatusOr<T>.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define C4_STATUS_CONCAT_INNER(a, b) a##b
#define C4_STATUS_CONCAT(a, b) C4_STATUS_CONCAT_INNER(a, b)

#define C4_RETURN_IF_ERROR(expression)                              \
  do {                                                              \
    if (absl::Status c4_status_ = (expression); !c4_status_.ok()) { \
      return c4_status_;                                            \
    }                                                               \
  } while (false)

#define C4_ASSIGN_OR_RETURN(declaration, expression) \
  C4_ASSIGN_OR_RETURN_INNER(C4_STATUS_CONCAT(c4_status_or_, __LINE__), declaration, expression)

#define C4_ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                      \
  if (!temporary.ok()) {                                              \
    return std::move(temporary).status();                             \
  }                                                                   \
  declaration = *std::move(temporary)
