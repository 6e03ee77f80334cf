#include "analyzer/verdict/policy.h"

#include <gtest/gtest.h>

namespace c4::verdict {
namespace {

namespace action = model::action;

std::string Respected(const model::JobRecord& job, const char* wanted, const char* node = "n1") {
  model::Finding finding;
  finding.action = wanted;
  finding.component.node = node;
  RespectJob(job, &finding);
  EXPECT_EQ(finding.weakened_by.empty(), finding.action == wanted);
  return finding.action;
}

TEST(PolicyTest, WithoutAWordFromTheJobActionsStand) {
  for (const char* wanted : {action::kIsolateRestart, action::kRestart, action::kAlert}) {
    EXPECT_EQ(Respected({}, wanted), wanted);
  }
}

TEST(PolicyTest, DryRunOnlyTells) {
  model::JobRecord job;
  job.dry_run = true;
  EXPECT_EQ(Respected(job, action::kIsolateRestart), action::kAlert);
  EXPECT_EQ(Respected(job, action::kRestart), action::kAlert);
  EXPECT_EQ(Respected(job, action::kWait), action::kWait);
}

TEST(PolicyTest, NodeThatIsOutAlreadyIsNotTakenOutAgain) {
  model::JobRecord job;
  job.cordoned_by = {{"n1", "operator"}};
  EXPECT_EQ(Respected(job, action::kIsolateRestart), action::kRestart);
  EXPECT_EQ(Respected(job, action::kIsolate), action::kAlert);
  EXPECT_EQ(Respected(job, action::kIsolateRestart, "n2"), action::kIsolateRestart);
  job.cordoned_by = {{"", "operator"}};
  EXPECT_EQ(Respected(job, action::kIsolateRestart, "n2"), action::kRestart);
}

}  // namespace
}  // namespace c4::verdict
