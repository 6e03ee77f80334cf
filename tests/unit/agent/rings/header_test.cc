#include "agent/rings/header.h"

#include <cstring>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using testing::FakeHook;

class HeaderTest : public ::testing::Test {
 protected:
  HeaderBytes Bytes() {
    HeaderBytes bytes;
    std::memcpy(bytes.data(), static_cast<const void*>(&hook_.header()), bytes.size());
    return bytes;
  }
  absl::StatusCode Parse() { return ParseLayout(Bytes()).status().code(); }

  testing::Scratch scratch_;
  FakeHook hook_{scratch_.Path("1-1.c4"), {}};
};

TEST_F(HeaderTest, ReadsWhatTheHookWrites) {
  const auto layout = ParseLayout(Bytes());
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->operation_capacity, 8U);
  EXPECT_EQ(layout->communicator_offset, abi::kHeaderBytes);
  const FileIdentity identity = ParseIdentity(Bytes());
  EXPECT_EQ(identity.job, "job1");
  EXPECT_EQ(identity.global_rank, 3);
  EXPECT_EQ(identity.process_start_ticks, 777U);
  EXPECT_EQ(ParseHealth(Bytes()).state, abi::WriterState::kRecording);
}

TEST_F(HeaderTest, AnUnfinishedHeaderIsNotYetAnError) {
  hook_.header().state = static_cast<std::uint32_t>(abi::WriterState::kStarting);
  hook_.header().magic = 0;
  EXPECT_EQ(Parse(), absl::StatusCode::kUnavailable);
}

TEST_F(HeaderTest, TextsNeedNoFinalNul) {
  std::memset(hook_.header().job, 'j', sizeof(hook_.header().job));
  EXPECT_EQ(ParseIdentity(Bytes()).job, std::string(64, 'j'));
}

TEST_F(HeaderTest, NumbersBelowUnknownAreUnknown) {
  hook_.header().global_rank = -2'000'000'000;
  EXPECT_EQ(ParseIdentity(Bytes()).global_rank, -1);
}

// Every field that describes the layout, changed to something that cannot be.
TEST_F(HeaderTest, ImpossibleLayoutsAreRefused) {
  const std::function<void(abi::Header&)> changes[] = {
      [](abi::Header& h) { h.magic ^= 1; },
      [](abi::Header& h) { h.version = 2; },
      [](abi::Header& h) { h.file_bytes = 0; },
      [](abi::Header& h) { h.communicator_capacity = 0; },
      [](abi::Header& h) { h.communicator_capacity = 0xffffffff; },
      [](abi::Header& h) { h.communicator_bytes = 255; },
      [](abi::Header& h) { h.communicator_offset = ~0ULL; },
      [](abi::Header& h) { h.communicator_offset = 0; },
      [](abi::Header& h) { h.operation_capacity = 0; },
      [](abi::Header& h) { h.operation_capacity = abi::kOperationCapacity + 1; },
      [](abi::Header& h) { h.operation_capacity = 0xffffffff; },
      [](abi::Header& h) { h.operation_bytes = 64; },
      [](abi::Header& h) { h.operation_offset = h.file_bytes; },
      [](abi::Header& h) { h.operation_offset = h.file_bytes - 1; },
      [](abi::Header& h) { h.operation_offset = ~0ULL - 100; },
      [](abi::Header& h) { h.operation_offset += 3; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    FakeHook hook(scratch_.Path("2-2.c4"), {});
    changes[i](hook.header());
    HeaderBytes bytes;
    std::memcpy(bytes.data(), static_cast<const void*>(&hook.header()), bytes.size());
    EXPECT_EQ(ParseLayout(bytes).status().code(), absl::StatusCode::kInvalidArgument) << i;
  }
}

}  // namespace
}  // namespace c4::agent
