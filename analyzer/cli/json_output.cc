#include "analyzer/cli/json_output.h"

#include <google/protobuf/util/json_util.h>

#include "common/check.h"

namespace c4::cli {
namespace {

template <typename Message>
std::string List(const char* key, const std::vector<Message>& messages) {
  std::string text = std::string("{\"") + key + "\":[";
  for (std::size_t i = 0; i < messages.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + Json(messages[i]);
  }
  text += messages.empty() ? "]}\n" : "\n]}\n";
  return text;
}

}  // namespace

std::string Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  C4_CHECK(google::protobuf::util::MessageToJsonString(message, &text, options).ok());
  return text;
}

std::string VerdictsJson(const std::vector<v1::Verdict>& verdicts) {
  return List("verdicts", verdicts);
}

std::string JobsJson(const std::vector<v1::Job>& jobs) { return List("jobs", jobs); }

}  // namespace c4::cli
