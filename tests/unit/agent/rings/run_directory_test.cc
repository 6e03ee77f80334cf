#include "agent/rings/run_directory.h"

#include <poll.h>
#include <sys/stat.h>

#include <filesystem>

#include "agent/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunDirectoryTest : public ::testing::Test {
 protected:
  RunDirectoryTest() { EXPECT_TRUE(directory_.Start().ok()); }
  bool HasEvents() const {
    pollfd wanted = {.fd = directory_.inotify_fd(), .events = POLLIN, .revents = 0};
    return poll(&wanted, 1, 0) > 0;
  }

  testing::Scratch scratch_;
  RunDirectory directory_{scratch_.Path("run")};
};

TEST_F(RunDirectoryTest, MayBeMissingAndAppearLater) {
  directory_.Refresh();
  EXPECT_EQ(directory_.fd(), -1);
  scratch_.Write("run/1-1.c4", "");
  directory_.Refresh();
  EXPECT_THAT(directory_.names(), ElementsAre("1-1.c4"));
}

TEST_F(RunDirectoryTest, ListsOnlyHookFiles) {
  scratch_.Write("run/1-1.c4", "");
  scratch_.Write("run/.hidden.c4", "");
  scratch_.Write("run/notes.txt", "");
  directory_.Refresh();
  EXPECT_THAT(directory_.names(), ElementsAre("1-1.c4"));
}

TEST_F(RunDirectoryTest, InotifyTellsWhatComesAndGoes) {
  scratch_.Write("run/1-1.c4", "");
  directory_.Refresh();
  scratch_.Write("run/2-2.c4", "");
  scratch_.Remove("run/1-1.c4");
  EXPECT_TRUE(HasEvents());
  directory_.DrainEvents();
  EXPECT_THAT(directory_.names(), ElementsAre("2-2.c4"));
  std::filesystem::rename(scratch_.Path("run/2-2.c4"), scratch_.Path("run/3-3.c4"));
  directory_.DrainEvents();
  EXPECT_THAT(directory_.names(), ElementsAre("3-3.c4"));
}

TEST_F(RunDirectoryTest, FollowsADirectoryThatIsRemovedAndMadeAgain) {
  scratch_.Write("run/1-1.c4", "");
  directory_.Refresh();
  scratch_.Remove("run");
  directory_.DrainEvents();
  EXPECT_THAT(directory_.names(), IsEmpty());
  scratch_.Write("run/2-2.c4", "");
  directory_.Refresh();
  EXPECT_THAT(directory_.names(), ElementsAre("2-2.c4"));
  scratch_.Write("run/3-3.c4", "");
  directory_.DrainEvents();
  EXPECT_THAT(directory_.names(), ElementsAre("2-2.c4", "3-3.c4"));
}

TEST_F(RunDirectoryTest, NamesAreBounded) {
  scratch_.Write("run/0.c4", "");
  for (std::size_t i = 0; i < kRunDirectoryNamesMax; ++i) {
    scratch_.Write("run/" + std::to_string(i) + "-1.c4", "");
  }
  directory_.Refresh();
  EXPECT_EQ(directory_.names().size(), kRunDirectoryNamesMax);
  EXPECT_TRUE(directory_.is_crowded());
}

}  // namespace
}  // namespace c4::agent
