// Verdicts for people: as rows, and one in full.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/output.h"
#include "analyzer/cli/table.h"
#include "c4/v1/verdict.pb.h"

namespace c4::cli {

// Live verdicts have an age; verdicts of a trace have a place in it.
enum class When { kAge, kOnset };

// `wide` adds severity, confidence, action and the summary, and spells classes as the schema does;
// without it they are shortened to fit ("non_comm_hang").
Table VerdictTable(bool wide, When when);
void AddVerdict(Table& table, const v1::Verdict& verdict, bool wide, When when,
                const Output& output);

// Everything that there is to say about one verdict.
std::string DescribeVerdict(const v1::Verdict& verdict, const Output& output);

// Colours what needs attention.
Color ColorOf(const v1::Verdict& verdict);

}  // namespace c4::cli
