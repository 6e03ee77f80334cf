#include "common/stop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>

namespace c4 {
namespace {

TEST(StopSignalTest, SignalMakesTheDescriptorReadableInsteadOfKilling) {
  auto stop = StopSignal::Create();
  ASSERT_TRUE(stop.ok()) << stop.status();
  pollfd entry{.fd = stop->fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(poll(&entry, 1, 0), 1);
  EXPECT_EQ(stop->Wait(), SIGTERM);
}

TEST(StopSignalTest, ClosedPeerDoesNotKill) {
  auto stop = StopSignal::Create();
  ASSERT_TRUE(stop.ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

}  // namespace
}  // namespace c4
