#include "agent/app/clean_text.h"

#include <string>

#include "c4/v1/telemetry.pb.h"
#include "gtest/gtest.h"

namespace c4::agent {
namespace {

TEST(CleanTextTest, KeepsTextAndReplacesTheRest) {
  const struct {
    std::string text;
    std::string clean;
  } cases[] = {
      {"", ""},
      {"job-1", "job-1"},
      {"tab\tnewline\n\x7f", "tab?newline??"},
      {std::string("nul\0!", 5), "nul?!"},
      {"größe 中 😀", "größe 中 😀"},
      {"\xc3", "?"},  // cut in the middle
      {"a\xff\xfe", "a??"},
      {"\xc0\xaf", "??"},  // overlong
      {"\xe0\x80\x80", "???"},
      {"\xed\xa0\x80", "???"},       // surrogate
      {"\xf4\x90\x80\x80", "????"},  // beyond Unicode
      {"\xc2\x85", "??"},            // a control character of Latin-1
  };
  for (const auto& c : cases) EXPECT_EQ(CleanText(c.text), c.clean);
}

TEST(CleanTextTest, WhateverComesAParserTakesIt) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second), '\x80', 'a'};
      v1::Rank rank;
      rank.set_job(CleanText(text));
      v1::Rank parsed;
      ASSERT_TRUE(parsed.ParseFromString(rank.SerializeAsString())) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace c4::agent
