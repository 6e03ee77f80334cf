#include "analyzer/api/trace_tap.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::api {
namespace {

model::JobRecord Job(const char* name, std::uint32_t restarts, const char* nccl_version) {
  model::JobRecord record;
  record.job = name;
  record.restarts = restarts;
  record.nccl_version = nccl_version;
  return record;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

model::Record Phase(const std::string& job, model::TimeNs time) {
  return model::PhaseRecord{job, time, "train"};
}
std::string PhaseLine(const std::string& job, model::TimeNs time) {
  return R"({"phase":{"job":")" + job + R"(","time":)" + std::to_string(time) +
         R"(,"name":"train"}})";
}

class Listener final : public TraceListener {
 public:
  bool OnChunk(TraceChunk chunk) override {
    if (!room) return false;
    ++chunks;
    records += chunk.records;
    complete = chunk.ends_with_watermark;
    text += chunk.lines;
    return true;
  }
  void OnEnd(const absl::Status& why) override { ended = why; }

  std::vector<std::string> Lines() const { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }
  bool room = true;
  int chunks = 0;
  std::uint64_t records = 0;
  bool complete = false;
  std::string text;
  absl::Status ended;
};

void Nothing(const TraceTap::Give& /*give*/) {}

TEST(TraceTap, GivesWhatIsKnownAndThenEverythingInOrder) {
  TraceTap tap;
  Listener listener;
  EXPECT_FALSE(tap.active());
  ASSERT_TRUE(tap.Add("", &listener).ok());
  EXPECT_TRUE(tap.active());
  tap.Write(Phase("a", 1));
  EXPECT_EQ(listener.text, "") << "not let in yet";
  tap.Admit([](const TraceTap::Give& give) { give(Job("a", 2, "")); }, 5);
  EXPECT_THAT(listener.Lines(),
              ElementsAre(R"({"c4_trace":1})", R"({"job":{"job":"a","restarts":2}})",
                          R"({"clock":{"time":5}})"));
  listener.text.clear();
  tap.Admit([](const TraceTap::Give&) { FAIL() << "it is in already"; }, 5);
  tap.Write(Phase("a", 6));
  tap.Write(Phase("b", 7));
  EXPECT_EQ(listener.text, "") << "until a watermark, or until it is worth a message";
  tap.WriteWatermark(8);
  EXPECT_THAT(listener.Lines(),
              ElementsAre(PhaseLine("a", 6), PhaseLine("b", 7), R"({"clock":{"time":8}})"));
  EXPECT_EQ(listener.records, 3);
  tap.Remove(&listener);
  EXPECT_FALSE(tap.active());
}

TEST(TraceTap, OfOneJobAndOfTheNodes) {
  TraceTap tap;
  Listener listener;
  ASSERT_TRUE(tap.Add("a", &listener).ok());
  tap.Admit(
      [](const TraceTap::Give& give) {
        give(Job("a", 0, ""));
        give(Job("b", 0, ""));
      },
      1);
  tap.Write(Phase("a", 6));
  tap.Write(Phase("b", 7));
  tap.Write(model::EventRecord{"n0", 8, "xid", "", 79, "", 0, ""});
  tap.Write(model::LossRecord{"n0", "", -1, "spool_full", 1});
  tap.Write(model::LossRecord{"n0", "b", 1, "ring_overwritten", 1});
  tap.WriteWatermark(9);
  EXPECT_THAT(listener.text, ::testing::Not(HasSubstr("\"b\"")));
  EXPECT_EQ(listener.records, 4);
  tap.Remove(&listener);
}

TEST(TraceTap, ABurstDoesNotWaitForItsWatermark) {
  TraceTap tap;
  Listener listener;
  ASSERT_TRUE(tap.Add("", &listener).ok());
  tap.Admit(Nothing, 0);
  for (int i = 0; i < 10'000; ++i) tap.Write(Phase("a", i));
  EXPECT_GT(listener.chunks, 3);
  EXPECT_LT(listener.chunks, 20);
  EXPECT_FALSE(listener.complete);
  tap.Remove(&listener);
}

TEST(TraceTap, AFullOneIsDroppedAndTheOthersGoOn) {
  TraceTap tap;
  Listener full;
  Listener other;
  ASSERT_TRUE(tap.Add("", &full).ok());
  ASSERT_TRUE(tap.Add("", &other).ok());
  tap.Admit(Nothing, 0);
  full.room = false;
  tap.WriteWatermark(1);
  full.room = true;
  tap.WriteWatermark(2);
  EXPECT_THAT(full.text, ::testing::Not(HasSubstr("time\":2")));
  EXPECT_THAT(other.text, HasSubstr("time\":2"));
  tap.Remove(&other);
  EXPECT_FALSE(tap.active());
}

TEST(TraceTap, NoMoreThanAFewAtATime) {
  TraceTap tap;
  std::vector<Listener> listeners(TraceTap::kRecordingsMax + 1);
  for (std::size_t i = 0; i < TraceTap::kRecordingsMax; ++i) {
    EXPECT_TRUE(tap.Add("", &listeners[i]).ok());
  }
  EXPECT_EQ(tap.Add("", &listeners.back()).code(), absl::StatusCode::kResourceExhausted);
  tap.Remove(&listeners[0]);
  EXPECT_TRUE(tap.Add("", &listeners.back()).ok());
}

TEST(TraceTap, ClosingGivesWhatIsThereAndSaysWhy) {
  TraceTap tap;
  Listener in;
  Listener waiting;
  ASSERT_TRUE(tap.Add("", &in).ok());
  tap.Admit(Nothing, 0);
  ASSERT_TRUE(tap.Add("", &waiting).ok());
  tap.Write(Phase("a", 6));
  tap.Close(absl::UnavailableError("stopping"));
  EXPECT_THAT(in.text, HasSubstr(PhaseLine("a", 6)));
  EXPECT_EQ(in.ended.message(), "stopping");
  EXPECT_EQ(waiting.ended.message(), "stopping");
  EXPECT_FALSE(tap.active());
  EXPECT_EQ(tap.Add("", &in).message(), "stopping");
}

// Under ThreadSanitizer: the owner writes while clients come and go.
TEST(TraceTap, ClientsComeAndGoWhileTheOwnerWrites) {
  TraceTap tap;
  std::atomic<bool> stop = false;
  std::thread owner([&] {
    for (model::TimeNs time = 1; !stop; ++time) {
      if (!tap.active()) continue;
      tap.Admit(Nothing, time);
      tap.Write(Phase("a", time));
      tap.WriteWatermark(time);
    }
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Listener listener;
        ASSERT_TRUE(tap.Add("", &listener).ok());
        std::this_thread::yield();
        tap.Remove(&listener);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  owner.join();
  EXPECT_FALSE(tap.active());
}

TraceChunk Piece(std::size_t bytes, model::TimeNs watermark = 0, bool known = false) {
  return {std::string(bytes, 'x'), 1, watermark, watermark != 0, known};
}

TEST(TraceBacklog, OverTheBoundItEndsAtItsLastWatermark) {
  TraceBacklog backlog(100);
  EXPECT_TRUE(backlog.Push(Piece(1000, 0, /*known=*/true))) << "what is known comes on top";
  EXPECT_TRUE(backlog.Push(Piece(40, 7)));
  EXPECT_TRUE(backlog.Push(Piece(40)));
  EXPECT_EQ(backlog.bytes(), 80);
  EXPECT_FALSE(backlog.Push(Piece(40, 8)));
  EXPECT_EQ(backlog.Pop()->lines.size(), 1000);
  EXPECT_EQ(backlog.Pop()->watermark, 7);
  EXPECT_FALSE(backlog.Pop().has_value());
  EXPECT_EQ(backlog.bytes(), 0);
}

}  // namespace
}  // namespace c4::api
