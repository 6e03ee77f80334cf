#include "analyzer/cli/verdict_table.h"

#include <string_view>

#include "analyzer/cli/text.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

// A row of 80 columns has no room for the words of the schema.
std::string ShortClass(std::string word) {
  if (word == "mismatched_collective") return "mismatch";
  constexpr std::string_view kLong = "communication";
  if (const std::size_t at = word.find(kLong); at != std::string::npos) {
    word.replace(at, kLong.size(), "comm");
  }
  return Printable(word);
}

std::string Percent(double share) { return fmt::format("{:.0f}%", share * 100); }

// "Job         llama"
std::string Field(const char* name, const std::string& value) {
  return fmt::format("{:<13}{}\n", name, value);
}

std::string Moments(const v1::Verdict& verdict) {
  std::string text = "\nMoments (UTC)\n";
  const auto line = [&](const char* name, std::int64_t time) {
    const std::string delta =
        time == 0 || time == verdict.onset() ? "" : "   " + Delta(time - verdict.onset());
    text += fmt::format("  {:<10} {}{}\n", name, Timestamp(time), delta);
  };
  line("onset", verdict.onset());
  line("suspected", verdict.detected());
  line("confirmed", verdict.confirmed());
  line("acted", verdict.acted());
  if (verdict.resolved() != 0) line("resolved", verdict.resolved());
  return text;
}

std::string Suspects(const v1::Verdict& verdict) {
  std::string text;
  for (const v1::Suspect& suspect : verdict.suspects()) {
    text +=
        fmt::format("  {:>4}  {}\n", Percent(suspect.score()), ComponentText(suspect.component()));
  }
  return text.empty() ? text : fmt::format("\nSuspects\n{}", text);
}

std::string EvidenceLines(const v1::Verdict& verdict) {
  std::string text;
  for (const v1::Evidence& evidence : verdict.evidence()) {
    const std::string value =
        evidence.unit().empty()
            ? ""
            : fmt::format(" ({:.4g} {})", evidence.value(), Printable(evidence.unit()));
    text += fmt::format("  {:<12} {:<11} {}{}\n", TimeOfDay(evidence.time()),
                        Printable(evidence.source()), Printable(evidence.text()), value);
  }
  return text.empty() ? text : fmt::format("\nEvidence\n{}", text);
}

}  // namespace

Color ColorOf(const v1::Verdict& verdict) {
  if (verdict.status() == "resolved") return Color::kGreen;
  if (verdict.severity() == "info") return Color::kNone;
  return verdict.status() == "confirmed" ? Color::kRed : Color::kYellow;
}

Table VerdictTable(bool wide, When when) {
  // What is faulty stays readable longest; an id may be given by its beginning.
  std::vector<Column> columns = {
      {"ID", 8, 2}, {"JOB", 8, 1}, {"CLASS", 9, 3}, {"COMPONENT", 12, 4}, {"STATUS"}};
  if (wide) {
    columns.insert(columns.end(), {{"SEVERITY"}, {"CONFIDENCE"}, {"ACTION"}});
  }
  columns.push_back({when == When::kAge ? "AGE" : "ONSET"});
  if (wide) columns.push_back({"SUMMARY", 20});
  return Table(std::move(columns));
}

void AddVerdict(Table& table, const v1::Verdict& verdict, bool wide, When when,
                const Output& output) {
  std::vector<Cell> row = {{Printable(verdict.id())},
                           {Printable(verdict.job())},
                           {wide ? Printable(verdict.class_()) : ShortClass(verdict.class_())},
                           {ComponentText(verdict.component())},
                           {Printable(verdict.status()), ColorOf(verdict)}};
  if (wide) {
    row.insert(row.end(), {Cell{Printable(verdict.severity())}, Cell{Percent(verdict.confidence())},
                           Cell{Printable(verdict.action())}});
  }
  row.push_back(
      {when == When::kAge ? Age(output.now() - verdict.onset()) : TimeOfDay(verdict.onset())});
  if (wide) row.push_back({Printable(verdict.summary())});
  table.Add(std::move(row));
}

std::string DescribeVerdict(const v1::Verdict& verdict, const Output& output) {
  std::string job = Printable(verdict.job());
  if (verdict.incarnation() > 0) job += fmt::format(" (restart {})", verdict.incarnation());
  std::string text = Field("Verdict", Printable(verdict.id()));
  text += Field("Job", job);
  text += Field("Class", Printable(verdict.class_()));
  text += Field("Severity", Printable(verdict.severity()));
  text += Field("Status", Paint(Printable(verdict.status()), ColorOf(verdict), output));
  text += Field("Component", ComponentText(verdict.component()));
  text += Field("Confidence", Percent(verdict.confidence()));
  text += Field("Action", Printable(verdict.action()));
  if (!verdict.summary().empty()) text += fmt::format("\n{}\n", Printable(verdict.summary()));
  text += Moments(verdict);
  text += Suspects(verdict);
  text += EvidenceLines(verdict);
  if (!verdict.weakened_by().empty()) {
    text += "\nWeakened by\n";
    for (const std::string& reason : verdict.weakened_by()) {
      text += fmt::format("  {}\n", Printable(reason));
    }
  }
  if (!verdict.victims().empty()) {
    text += fmt::format("\nVictims (they only wait)\n  {}: {}\n",
                        verdict.victims_size() == 1 ? "rank" : "ranks",
                        RankList({verdict.victims().begin(), verdict.victims().end()}));
  }
  return text;
}

}  // namespace c4::cli
