#include "agent/rings/communicator_reader.h"

#include <fcntl.h>

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class CommunicatorReaderTest : public ::testing::Test {
 protected:
  CommunicatorReaderTest() {
    HeaderBytes bytes;
    EXPECT_TRUE(file_.ReadAt(0, bytes).ok());
    reader_.emplace(*ParseLayout(bytes));
  }
  const std::vector<CommunicatorInfo>& Poll() {
    changed_.clear();
    EXPECT_TRUE(reader_->Poll(file_, &changed_).ok());
    return changed_;
  }
  HookFile OpenFile() const {
    return *HookFile::FromDescriptor(open(scratch_.Path("1-1.c4").c_str(), O_RDONLY), "1-1.c4");
  }

  testing::Scratch scratch_;
  testing::FakeHook hook_{scratch_.Path("1-1.c4"), {}};
  HookFile file_ = OpenFile();
  std::optional<CommunicatorReader> reader_;
  std::vector<CommunicatorInfo> changed_;
};

TEST_F(CommunicatorReaderTest, GivesNewAndChangedEntriesOnce) {
  hook_.AddCommunicator(0, 11, 1, 4);
  hook_.AddCommunicator(1, 12);
  ASSERT_EQ(Poll().size(), 2U);
  EXPECT_EQ(changed_[0].id, 11U);
  EXPECT_EQ(changed_[0].member, 1);
  EXPECT_EQ(changed_[0].name, "dp");
  EXPECT_TRUE(Poll().empty());
  hook_.communicator(0).collectives = 99;  // moves all the time
  EXPECT_TRUE(Poll().empty());
  hook_.communicator(1).ended_ns = 77;
  hook_.communicator(1).state = static_cast<std::uint32_t>(abi::CommunicatorState::kAborted);
  ASSERT_EQ(Poll().size(), 1U);
  EXPECT_EQ(changed_[0].changed_ns, 77);
}

TEST_F(CommunicatorReaderTest, AReusedEntryKeepsItsPredecessor) {
  hook_.AddCommunicator(0, 11);
  Poll();
  hook_.AddCommunicator(0, 12);
  Poll();
  EXPECT_EQ(reader_->Resolve(file_, 0, 1, &changed_)->id, 11U);
  EXPECT_EQ(reader_->Resolve(file_, 0, 2, &changed_)->id, 12U);
  EXPECT_EQ(reader_->Resolve(file_, 0, 3, &changed_), nullptr);
}

TEST_F(CommunicatorReaderTest, ResolvesWhatAppearedAfterThePoll) {
  hook_.AddCommunicator(0, 11);
  Poll();
  changed_.clear();
  hook_.AddCommunicator(1, 12);
  EXPECT_EQ(reader_->Resolve(file_, 1, 1, &changed_)->id, 12U);
  EXPECT_EQ(changed_.size(), 1U);
}

TEST_F(CommunicatorReaderTest, IndicesFromOutsideAreChecked) {
  EXPECT_EQ(reader_->Resolve(file_, 4, 0, &changed_), nullptr);
  EXPECT_EQ(reader_->Resolve(file_, 0xffffffff, 1, &changed_), nullptr);
}

TEST_F(CommunicatorReaderTest, RewindGivesAllAgain) {
  hook_.AddCommunicator(0, 11);
  Poll();
  reader_->Rewind();
  EXPECT_EQ(Poll().size(), 1U);
  EXPECT_TRUE(Poll().empty());
}

TEST_F(CommunicatorReaderTest, NamesNeedNoFinalNul) {
  hook_.AddCommunicator(0, 11);
  std::memset(hook_.communicator(0).name, 'n', sizeof(hook_.communicator(0).name));
  EXPECT_EQ(Poll()[0].name, std::string(64, 'n'));
}

}  // namespace
}  // namespace c4::agent
