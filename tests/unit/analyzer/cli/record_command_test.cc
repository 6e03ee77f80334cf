// c4ctl record whose output does not keep up, against a real server with the test in the owner's
// place. (What it records otherwise: tests/unit/analyzer/app/record_test.cc.)
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "analyzer/api/server.h"
#include "analyzer/cli/commands.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"

namespace c4::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// A pipe into something that does not read until it is told to.
class StuckBuffer final : public std::stringbuf {
 public:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (first_) {
      stuck.Notify();
      go_on.WaitForNotification();
      first_ = false;
    }
    return std::stringbuf::xsputn(text, count);
  }
  absl::Notification stuck;
  absl::Notification go_on;

 private:
  bool first_ = true;
};

class RecordCommandTest : public ::testing::Test {
 protected:
  RecordCommandTest() {
    server_ = *api::Server::Start({.listen = "127.0.0.1:0",
                                   .insecure = false,
                                   .query = {.record_backlog_bytes_max = 1 << 20}},
                                  &clock_, &queue_, &board_, &tap_);
  }
  ManualClock clock_;
  api::IntakeQueue queue_;
  api::Board board_;
  api::TraceTap tap_;
  std::unique_ptr<api::Server> server_;
  std::ostringstream err_;
};

TEST_F(RecordCommandTest, OneThatIsTooSlowSaysSoAndEndsWithAWatermark) {
  StuckBuffer buffer;
  std::ostream out(&buffer);
  int status = -1;
  std::thread ctl([&] {
    Client client(server_->address(), absl::Seconds(30));
    status = RunRecord(client, {}, {.out = &out, .err = &err_, .now = [] { return 0L; }});
  });
  const absl::Time deadline = absl::Now() + api::kPatience;
  while (!tap_.active() && absl::Now() < deadline) std::this_thread::yield();
  tap_.Admit([](const api::TraceTap::Give&) {}, 1);
  ASSERT_TRUE(buffer.stuck.WaitForNotificationWithTimeout(api::kPatience));
  // No watermark after the first: what is not complete is not judged.
  for (int i = 0; tap_.active() && i < 1'000'000; ++i) {
    tap_.Write(model::ErrorRecord{"j", 0, 5, std::string(4000, 'x')});
  }
  EXPECT_FALSE(tap_.active());
  buffer.go_on.Notify();
  ctl.join();
  EXPECT_EQ(status, 1);
  EXPECT_THAT(err_.str(), HasSubstr("too slow: more than 1 MiB were waiting"));
  const std::string text = buffer.str();
  EXPECT_THAT(text, HasSubstr("{\"note\":{\"text\":\"recording ends: "));
  EXPECT_THAT(text, EndsWith("\"}}\n{\"clock\":{\"time\":1}}\n"));
}

TEST_F(RecordCommandTest, WithoutAnAnswerItGivesUp) {
  // Nobody lets it in: the owner hangs.
  Client client(server_->address(), absl::Milliseconds(100));
  std::ostringstream out;
  EXPECT_EQ(RunRecord(client, {}, {.out = &out, .err = &err_, .now = [] { return 0L; }}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no answer from the analyzer"));
  EXPECT_EQ(out.str(), "");
}

TEST_F(RecordCommandTest, CtrlCBeforeTheFirstAnswerIsAnEndAsWell) {
  const int stop = ::eventfd(1, EFD_CLOEXEC);
  RecordOptions options;
  options.stop_fd = stop;
  Client client(server_->address(), absl::Seconds(30));
  std::ostringstream out;
  EXPECT_EQ(RunRecord(client, options, {.out = &out, .err = &err_, .now = [] { return 0L; }}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("0 records"));
  ::close(stop);
}

TEST_F(RecordCommandTest, AnUnreachableAnalyzerLeavesNoFile) {
  server_->Stop();
  Client client(server_->address(), absl::Seconds(30));
  RecordOptions options;
  options.file = ::testing::TempDir() + "never_" + std::to_string(::getpid());
  std::ostringstream out;
  EXPECT_EQ(RunRecord(client, options, {.out = &out, .err = &err_, .now = [] { return 0L; }}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("cannot reach the analyzer"));
  EXPECT_NE(::access(options.file.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace c4::cli
