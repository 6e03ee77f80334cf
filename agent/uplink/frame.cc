#include "agent/uplink/frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <array>
#include <string>
#include <vector>

namespace c4::agent {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

}  // namespace

grpc::ByteBuffer HelloFrame(const v1::Hello& hello) {
  v1::AgentMessage message;
  *message.mutable_hello() = hello;
  return Buffer(message.SerializeAsString());
}

grpc::ByteBuffer BatchFrame(const Spool::Entry& entry) {
  v1::Batch head;
  head.set_sequence(entry.sequence);
  head.set_complete_until(entry.payload.complete_until_ns);
  const std::string head_bytes = head.SerializeAsString();

  // The tag and the length of AgentMessage.batch: at most 5 bytes each.
  std::array<std::uint8_t, 16> prefix{};
  std::uint8_t* end = CodedOutputStream::WriteTagToArray(
      WireFormatLite::MakeTag(v1::AgentMessage::kBatchFieldNumber,
                              WireFormatLite::WIRETYPE_LENGTH_DELIMITED),
      prefix.data());
  end = CodedOutputStream::WriteVarint32ToArray(
      static_cast<std::uint32_t>(head_bytes.size() + entry.payload.Bytes()), end);

  std::array<grpc::Slice, 4> slices = {
      grpc::Slice(prefix.data(), static_cast<std::size_t>(end - prefix.data())),
      grpc::Slice(head_bytes), grpc::Slice(entry.payload.control),
      grpc::Slice(entry.payload.operations)};
  return {slices.data(), slices.size()};
}

std::optional<v1::AnalyzerMessage> ParseFrame(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) {
    return std::nullopt;
  }
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  v1::AnalyzerMessage message;
  if (!message.ParseFromString(text)) {
    return std::nullopt;
  }
  return message;
}

}  // namespace c4::agent
