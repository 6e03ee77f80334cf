// c4ctl against a real server in this process: what it prints where, and its exit status.
#include "analyzer/cli/commands.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/api/server.h"
#include "analyzer/cli/cli.h"
#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"
#include "tests/unit/analyzer/cli/sample_verdicts.h"

namespace c4::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() { StartServer("127.0.0.1:0"); }

  void StartServer(const std::string& listen) {
    server_ = *api::Server::Start({.listen = listen, .insecure = false, .query = {}}, &clock_,
                                  &queue_, &board_, &tap_);
    address_ = server_->address();
  }
  // Runs c4ctl with these arguments; the server's address is added.
  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"c4ctl", "--server", address_});
    return RunBare(arguments);
  }
  int RunBare(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    out_.str("");
    err_.str("");
    return RunCli(static_cast<int>(argv.size()), argv.data(), {.make_engine = {}, .pause = {}},
                  output_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  ManualClock clock_;
  api::IntakeQueue queue_;
  api::Board board_;
  api::TraceTap tap_;
  std::unique_ptr<api::Server> server_;
  std::string address_;
  std::ostringstream out_;
  std::ostringstream err_;
  Output output_{.out = &out_, .err = &err_, .color = false, .width = 0, .now = [] {
                   return kOnset + 184 * kSecond;
                 }};
};

TEST_F(CommandsTest, NoVerdictsIsNoDataAndNoError) {
  EXPECT_EQ(Run({"verdicts"}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "No verdicts found.\n");
  EXPECT_EQ(Run({"verdicts", "-o", "json"}), 0);
  EXPECT_EQ(out(), "{\"verdicts\":[]}\n");
  EXPECT_EQ(err(), "");
}

TEST_F(CommandsTest, ListsAndFilters) {
  v1::Verdict info = HungHost();
  info.set_id("info1");
  info.set_severity("info");
  board_.Publish({SlowNic(), HungHost(), info});
  EXPECT_EQ(Run({"verdicts", "-o", "name"}), 0);
  EXPECT_EQ(out(), "0b44d2c19e07\n7c1e09aa42f3\n");
  EXPECT_EQ(Run({"verdicts", "-o", "name", "--all", "--job", "j1"}), 0);
  EXPECT_EQ(out(), "0b44d2c19e07\ninfo1\n");
  EXPECT_EQ(Run({"verdicts", "--no-headers"}), 0);
  EXPECT_THAT(out(), StartsWith("0b44d2c19e07  j1 "));
  EXPECT_EQ(err(), "");
}

TEST_F(CommandsTest, OneVerdictByTheBeginningOfItsId) {
  v1::Verdict twin = HungHost();
  twin.set_id("0b4499");
  board_.Publish({SlowNic(), HungHost(), twin});
  EXPECT_EQ(Run({"verdicts", "7c"}), 0);
  EXPECT_THAT(out(), StartsWith("Verdict      7c1e09aa42f3\n"));
  EXPECT_EQ(Run({"verdicts", "7c", "-o", "json"}), 0);
  EXPECT_THAT(out(), StartsWith("{\"id\":\"7c1e09aa42f3\""));
  EXPECT_EQ(Run({"verdicts", "0b44"}), 1);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "c4ctl: more than one verdict 0b44\n");
  EXPECT_EQ(Run({"verdicts", "zz"}), 1);
  EXPECT_EQ(err(), "c4ctl: there is no verdict zz\n");
}

TEST_F(CommandsTest, Jobs) {
  EXPECT_EQ(Run({"jobs"}), 0);
  EXPECT_EQ(err(), "No jobs found.\n");
  v1::Job job;
  job.set_name("llama");
  job.set_state("running");
  job.set_ranks(7);
  job.set_world_size(8);
  job.set_nodes(4);
  job.set_step_seconds(0.512);
  job.set_collectives(1'234'567);
  job.set_lost(3);
  job.set_verdicts_open(1);
  job.set_first_seen(kOnset);
  board_.SetJobs({job});
  EXPECT_EQ(Run({"jobs"}), 0);
  EXPECT_EQ(out(),
            "JOB    STATE    RANKS  NODES  STEP   COLLECTIVES  LOST  VERDICTS  AGE\n"
            "llama  running  7/8    4      512ms  1.2M         3     1         3m4s\n");
  EXPECT_EQ(Run({"jobs", "-o", "json"}), 0);
  EXPECT_THAT(out(), StartsWith("{\"jobs\":[\n{\"name\":\"llama\",\"state\":\"running\""));
}

TEST_F(CommandsTest, Status) {
  v1::GetStatusResponse status;
  status.set_version("0.1.0");
  status.set_analyzer_instance("abc");
  status.set_watermark(kOnset + 183 * kSecond);
  v1::AgentStatus& agent = *status.add_agents();
  agent.set_node("n0");
  agent.set_connected(true);
  agent.set_complete_until(kOnset + 183 * kSecond + kSecond / 2);
  agent.set_batches(12);
  agent.set_records(345);
  agent.set_version("0.1.0");
  board_.SetStatus(status);
  EXPECT_EQ(Run({"status"}), 0);
  EXPECT_EQ(out(), "Server     " + address_ +
                       "\n"
                       "Version    0.1.0\n"
                       "Instance   abc\n"
                       "Watermark  2025-06-15 15:09:43.000 UTC (1.0s ago)\n"
                       "Agents     1 of 1 connected\n"
                       "\n"
                       "NODE  CONNECTED  BEHIND  BATCHES  RECORDS  REJECTED  VERSION\n"
                       "n0    yes        0.5s    12       345      0         0.1.0\n");
}

TEST_F(CommandsTest, AnUnreachableAnalyzerIsExplained) {
  server_->Stop();
  EXPECT_EQ(Run({"verdicts"}), 1);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(err(), StartsWith("c4ctl: cannot reach the analyzer at " + address_ + ": "));
  EXPECT_THAT(err(), HasSubstr("--server or C4_SERVER"));
}

TEST_F(CommandsTest, UsageErrorsAreTwo) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"nonsense"}), 2);
  EXPECT_EQ(Run({"verdicts", "-o", "yaml"}), 2);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(err(), HasSubstr("yaml"));
  EXPECT_EQ(Run({"--timeout", "soon", "verdicts"}), 2);
  EXPECT_EQ(Run({"verdicts", "--watch", "7c"}), 2);
  EXPECT_EQ(Run({"analyze"}), 2);
  EXPECT_EQ(Run({"record", "--duration", "soon"}), 2);
}

TEST_F(CommandsTest, HelpTeaches) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("Examples:"));
  EXPECT_EQ(Run({"verdicts", "--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("--watch"));
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(out(), std::string("c4ctl ") + kVersion + "\n");
  EXPECT_EQ(RunBare({"c4ctl", "--version"}), 0);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Run({"completion", shell}), 0);
    EXPECT_THAT(out(), HasSubstr("verdicts"));
    EXPECT_THAT(out(), HasSubstr("record"));
  }
}

// Watches until `count` verdicts have been printed.
TEST_F(CommandsTest, WatchPrintsThePresentAndThenChanges) {
  board_.Publish({SlowNic()});
  int printed = 0;
  VerdictsOptions options;
  options.format = Format::kName;
  Client client(address_, absl::Seconds(10));
  const int status = RunWatch(client, options,
                              {.pause = [] { return false; },
                               .go_on =
                                   [&] {
                                     if (++printed == 1) board_.Publish({SlowNic(), HungHost()});
                                     return printed < 2;
                                   }},
                              output_);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(out(), "7c1e09aa42f3\n0b44d2c19e07\n") << "what did not change is not repeated";
}

TEST_F(CommandsTest, WatchReturnsAfterARestart) {
  board_.Publish({SlowNic()});
  int printed = 0;
  int pauses = 0;
  VerdictsOptions options;
  Client client(address_, absl::Seconds(10));
  std::thread stopper;
  const int status = RunWatch(client, options,
                              {.pause =
                                   [&] {
                                     if (stopper.joinable()) stopper.join();
                                     if (++pauses == 1) {
                                       StartServer(address_);
                                       board_.Publish({HungHost()});
                                     }
                                     return true;
                                   },
                               .go_on =
                                   [&] {
                                     if (++printed == 1) {
                                       // Not from here: it waits for this very stream to end.
                                       stopper = std::thread([&] { server_->Stop(); });
                                     }
                                     return printed < 2;
                                   }},
                              output_);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(printed, 2);
  EXPECT_THAT(err(), HasSubstr("trying again"));
  EXPECT_THAT(out(), HasSubstr("7c1e09aa42f3"));
  EXPECT_THAT(out(), HasSubstr("0b44d2c19e07"));
  EXPECT_EQ(out().find("ID "), out().rfind("ID ")) << "one heading";
}

}  // namespace
}  // namespace c4::cli
