// The layout is a contract between processes built at different times: every offset is pinned here,
// so that a change of it is a deliberate one (and bumps kVersion).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "common/abi/layout.h"

namespace c4::abi {
namespace {

TEST(AbiTest, MagicReadsAsTextAtTheHeadOfTheFile) {
  char text[8];
  std::memcpy(text, &kMagic, sizeof(text));
  EXPECT_EQ(std::string(text, 8), "C4HOOK01");
}

TEST(AbiTest, HeaderOffsets) {
  EXPECT_EQ(offsetof(Header, version), 8U);
  EXPECT_EQ(offsetof(Header, file_bytes), 16U);
  EXPECT_EQ(offsetof(Header, communicator_offset), 32U);
  EXPECT_EQ(offsetof(Header, operation_offset), 48U);
  EXPECT_EQ(offsetof(Header, flow_offset), 64U);
  EXPECT_EQ(offsetof(Header, pid), 72U);
  EXPECT_EQ(offsetof(Header, process_start_ticks), 88U);
  EXPECT_EQ(offsetof(Header, job), 120U);
  EXPECT_EQ(offsetof(Header, node), 184U);
  EXPECT_EQ(offsetof(Header, hook_version), 248U);
  EXPECT_EQ(offsetof(Header, gpu_uuid), 264U);
  EXPECT_EQ(offsetof(Header, gpu_pci), 312U);
  EXPECT_EQ(offsetof(Header, command), 344U);
  EXPECT_EQ(offsetof(Header, anchor_monotonic_ns), 408U);
  EXPECT_EQ(offsetof(Header, state), 448U);
  EXPECT_EQ(offsetof(Header, heartbeat_ns), 456U);
  EXPECT_EQ(offsetof(Header, operation_head), 512U);
}

TEST(AbiTest, RecordOffsets) {
  EXPECT_EQ(offsetof(CommunicatorRecord, id), 8U);
  EXPECT_EQ(offsetof(CommunicatorRecord, rank), 32U);
  EXPECT_EQ(offsetof(CommunicatorRecord, created_ns), 56U);
  EXPECT_EQ(offsetof(CommunicatorRecord, collectives), 72U);
  EXPECT_EQ(offsetof(CommunicatorRecord, name), 80U);
  EXPECT_EQ(offsetof(OperationRecord, in_flight), 8U);
  EXPECT_EQ(offsetof(OperationRecord, sequence), 24U);
  EXPECT_EQ(offsetof(OperationRecord, enqueue_ns), 48U);
  EXPECT_EQ(offsetof(OperationRecord, start_ns), 64U);
  EXPECT_EQ(offsetof(OperationRecord, root), 80U);
  EXPECT_EQ(offsetof(OperationRecord, result), 92U);
  EXPECT_EQ(offsetof(OperationRecord, kind), 100U);
  EXPECT_EQ(offsetof(FlowRecord, bytes), 16U);
  EXPECT_EQ(offsetof(FlowRecord, progress_ns), 48U);
}

TEST(AbiTest, PartsOfTheFileDoNotOverlap) {
  EXPECT_EQ(kCommunicatorOffset, 4096U);
  EXPECT_EQ(kOperationOffset, 4096U + 256U * 256U);
  EXPECT_EQ(kFlowOffset, kOperationOffset + 16384U * 128U);
  EXPECT_EQ(kFileBytes, kFlowOffset + 2048U * 64U);
}

TEST(AbiTest, RecordsLiveInSharedMemoryWithoutConstructors) {
  EXPECT_TRUE(std::is_standard_layout_v<Header>);
  EXPECT_TRUE(std::is_trivially_destructible_v<Header>);
  EXPECT_TRUE(std::is_standard_layout_v<OperationRecord>);
  EXPECT_TRUE(std::is_trivially_destructible_v<OperationRecord>);
}

}  // namespace
}  // namespace c4::abi
