#include "agent/uplink/frame.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace c4::agent {
namespace {

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

TEST(FrameTest, ABatchIsWhatItsPartsSay) {
  v1::Batch control;
  control.add_processes()->set_job("j");
  v1::Batch operations;
  operations.add_operations()->set_sequence(300);
  operations.add_operations()->set_name("Send");
  Spool::Entry entry;
  entry.sequence = 77;
  entry.payload.complete_until_ns = 1'700'000'000'000'000'000;
  entry.payload.control = control.SerializeAsString();
  entry.payload.operations = operations.SerializeAsString();

  v1::AgentMessage message;
  ASSERT_TRUE(message.ParseFromString(Bytes(BatchFrame(entry))));
  EXPECT_EQ(message.batch().sequence(), 77U);
  EXPECT_EQ(message.batch().complete_until(), 1'700'000'000'000'000'000);
  EXPECT_EQ(message.batch().processes(0).job(), "j");
  ASSERT_EQ(message.batch().operations_size(), 2);
  EXPECT_EQ(message.batch().operations(1).name(), "Send");
}

TEST(FrameTest, AnEmptyBatchIsABatch) {
  Spool::Entry entry;
  entry.sequence = 1;
  v1::AgentMessage message;
  ASSERT_TRUE(message.ParseFromString(Bytes(BatchFrame(entry))));
  EXPECT_TRUE(message.has_batch());
}

TEST(FrameTest, LargeLengthsAreEncoded) {
  Spool::Entry entry;
  entry.sequence = 1;
  v1::Batch operations;
  for (int i = 0; i < 5000; ++i) operations.add_operations()->set_count(1ULL << 60);
  entry.payload.operations = operations.SerializeAsString();
  v1::AgentMessage message;
  ASSERT_TRUE(message.ParseFromString(Bytes(BatchFrame(entry))));
  EXPECT_EQ(message.batch().operations_size(), 5000);
}

TEST(FrameTest, NonsenseIsNoMessage) {
  const grpc::Slice slice(std::string("\xff\xff\xff\xff\xff"));
  EXPECT_FALSE(ParseFrame(grpc::ByteBuffer(&slice, 1)).has_value());
  const grpc::Slice bad_text(std::string("\x0a\x04\x0a\x02\xc3\x28"));
  EXPECT_FALSE(ParseFrame(grpc::ByteBuffer(&bad_text, 1)).has_value());
}

}  // namespace
}  // namespace c4::agent
