#include "analyzer/verdict/incident_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace c4::verdict {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr model::TimeNs kBegin = 1'750'000'000 * model::kSecond;
model::TimeNs At(int seconds) { return kBegin + seconds * model::kSecond; }

model::Finding Nic(const std::string& node, model::TimeNs confirmed = 0) {
  model::Finding finding;
  finding.verdict_class = model::verdict_class::kCommunicationHang;
  finding.component.kind = model::component_kind::kNic;
  finding.component.node = node;
  finding.component.nic = "mlx5_0";
  finding.onset = At(0);
  finding.confirmed = confirmed;
  finding.confidence = 0.9;
  finding.anchor = "W/1";
  return finding;
}

model::Finding Unknown() {
  model::Finding finding = Nic("");
  finding.component = model::Component{};
  finding.confidence = 0.5;
  return finding;
}

TEST(IncidentBookTest, OneFaultGivesOneVerdictWithALife) {
  IncidentBook book;
  auto changed = book.Update("j", 0, {Nic("n0")}, At(5));
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].status, model::Status::kSuspected);
  const std::string id = changed[0].id;
  EXPECT_THAT(book.Update("j", 0, {Nic("n0")}, At(6)), IsEmpty());
  changed = book.Update("j", 0, {Nic("n0", At(10))}, At(10));
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].id, id);
  EXPECT_EQ(changed[0].status, model::Status::kConfirmed);
  EXPECT_THAT(book.Update("j", 0, {}, At(20)), IsEmpty());
  changed = book.Update("j", 0, {}, At(26));
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].status, model::Status::kResolved);
  EXPECT_EQ(changed[0].severity, model::Severity::kFault);
}

TEST(IncidentBookTest, SuspicionThatPassedIsInformation) {
  IncidentBook book;
  book.Update("j", 0, {Nic("n0")}, At(5));
  const auto changed = book.Update("j", 0, {}, At(21));
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].status, model::Status::kResolved);
  EXPECT_EQ(changed[0].severity, model::Severity::kInfo);
}

TEST(IncidentBookTest, VagueBecomesAPartAndNotTheOtherWayRound) {
  IncidentBook book;
  const std::string id = book.Update("j", 0, {Unknown()}, At(5))[0].id;
  auto changed = book.Update("j", 0, {Nic("n0", At(6))}, At(6));
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].id, id);
  EXPECT_EQ(changed[0].component.node, "n0");
  EXPECT_THAT(book.Update("j", 0, {Unknown()}, At(7)), IsEmpty());
}

TEST(IncidentBookTest, IdsDependOnPlaceAndIncarnation) {
  IncidentBook book;
  const std::string first = book.Update("j", 0, {Nic("n0")}, At(5))[0].id;
  EXPECT_EQ(IncidentBook().Update("j", 0, {Nic("n0")}, At(9))[0].id, first);
  EXPECT_NE(IncidentBook().Update("j", 0, {Nic("n1")}, At(5))[0].id, first);
  EXPECT_NE(IncidentBook().Update("j", 1, {Nic("n0")}, At(5))[0].id, first);
}

TEST(IncidentBookTest, InformationDoesNotCountAsAFault) {
  IncidentBook book;
  model::Finding finding = Nic("n0");
  finding.severity = model::Severity::kInfo;
  book.Update("j", 0, {finding}, At(5));
  EXPECT_EQ(book.OpenFaults("j"), 0);
  EXPECT_TRUE(book.HasOpen("j", model::verdict_class::kCommunicationHang));
}

}  // namespace
}  // namespace c4::verdict
