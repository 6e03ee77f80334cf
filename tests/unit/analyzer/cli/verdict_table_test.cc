#include "analyzer/cli/verdict_table.h"

#include "analyzer/cli/json_output.h"
#include "analyzer/cli/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/cli/sample_verdicts.h"

namespace c4::cli {
namespace {

Output Terminal(int width, bool color = false) {
  return {.out = nullptr, .err = nullptr, .color = color, .width = width, .now = [] {
            return kOnset + 184 * kSecond;
          }};
}

std::string Render(const Output& output, bool wide = false, When when = When::kAge) {
  Table table = VerdictTable(wide, when);
  AddVerdict(table, HungHost(), wide, when, output);
  AddVerdict(table, SlowNic(), wide, when, output);
  return table.Render(output);
}

TEST(VerdictTable, WholeIntoAPipe) {
  EXPECT_EQ(
      Render(Terminal(0)),
      "ID            JOB                 CLASS          COMPONENT              STATUS     AGE\n"
      "0b44d2c19e07  j1                  non_comm_hang  rank 19 on node-02     suspected  84s\n"
      "7c1e09aa42f3  llama-70b-pretrain  comm_slow      nic mlx5_2 on node-03  confirmed  3m4s\n");
}

TEST(VerdictTable, FitsEightyColumns) {
  const std::string text = Render(Terminal(80));
  EXPECT_EQ(text,
            "ID            JOB          CLASS          COMPONENT              STATUS     AGE\n"
            "0b44d2c19e07  j1           non_comm_hang  rank 19 on node-02     suspected  84s\n"
            "7c1e09aa42f3  llama-70b-…  comm_slow      nic mlx5_2 on node-03  confirmed  3m4s\n");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(Columns(text.substr(begin, end - begin)), 80);
    begin = end + 1;
  }
}

TEST(VerdictTable, ColorsTheStatusOnly) {
  const std::string text = Render(Terminal(0, true));
  EXPECT_THAT(text, ::testing::HasSubstr("\033[33msuspected\033[0m"));
  EXPECT_THAT(text, ::testing::HasSubstr("\033[31mconfirmed\033[0m"));
}

TEST(VerdictTable, WideAddsWhatIsLeft) {
  const std::string text = Render(Terminal(0), true, When::kOnset);
  EXPECT_THAT(text,
              ::testing::StartsWith("ID            JOB                 CLASS                   "
                                    "COMPONENT              STATUS     SEVERITY  CONFIDENCE  "
                                    "ACTION           ONSET         SUMMARY\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("fault     92%         isolate+restart  15:06:40.000  NIC "
                                         "mlx5_2 of node-03 moves"));
}

TEST(DescribeVerdict, TellsEverything) {
  EXPECT_EQ(DescribeVerdict(SlowNic(), Terminal(80)),
            "Verdict      7c1e09aa42f3\n"
            "Job          llama-70b-pretrain (restart 1)\n"
            "Class        communication_slow\n"
            "Severity     fault\n"
            "Status       confirmed\n"
            "Component    nic mlx5_2 on node-03\n"
            "Confidence   92%\n"
            "Action       isolate+restart\n"
            "\n"
            "NIC mlx5_2 of node-03 moves data at a third of its own past.\n"
            "\n"
            "Moments (UTC)\n"
            "  onset      2025-06-15 15:06:40.000\n"
            "  suspected  2025-06-15 15:06:43.250   +3.250 s\n"
            "  confirmed  2025-06-15 15:06:45.000   +5.000 s\n"
            "  acted      -\n"
            "\n"
            "Suspects\n"
            "   92%  nic mlx5_2 on node-03\n"
            "    8%  link node-03 - node-01\n"
            "\n"
            "Evidence\n"
            "  15:06:42.000 flow        sending takes longer to every peer (3.1 times as long)\n"
            "  15:06:40.500 hardware    symbol_error?[31m rises\n"
            "\n"
            "Weakened by\n"
            "  17 records of rank 5 were lost\n"
            "\n"
            "Victims (they only wait)\n"
            "  ranks: 0-3, 6\n");
}

TEST(JsonOutput, IsTheProto3JsonOfTheSchema) {
  EXPECT_EQ(VerdictsJson({}), "{\"verdicts\":[]}\n");
  EXPECT_EQ(
      VerdictsJson({HungHost()}),
      "{\"verdicts\":[\n"
      "{\"id\":\"0b44d2c19e07\",\"job\":\"j1\",\"class\":\"non_communication_hang\","
      "\"severity\":\"fault\",\"status\":\"suspected\",\"component\":{\"kind\":\"rank\","
      "\"node\":\"node-02\",\"rank\":19},\"confidence\":0.7,\"onset\":\"1750000100000000000\","
      "\"detected\":\"1750000105000000000\",\"action\":\"wait\",\"summary\":\"Rank 19 has not "
      "called AllReduce 512 that seven others wait for.\"}\n"
      "]}\n");
  EXPECT_THAT(Json(SlowNic()), ::testing::HasSubstr("\"weakened_by\":[\"17 records"));
}

TEST(JsonOutput, RankZeroIsThere) {
  v1::Verdict verdict;
  verdict.mutable_component()->set_rank(0);
  EXPECT_EQ(Json(verdict), R"({"component":{"rank":0}})");
}

}  // namespace
}  // namespace c4::cli
