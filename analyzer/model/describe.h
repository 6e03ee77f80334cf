// Names of things as people read them in summaries and evidence.
#pragma once

#include <string>

#include "analyzer/model/job_model.h"
#include "analyzer/model/verdict.h"

namespace c4::model {

std::string Describe(const JobModel& job, const Operation& operation);  // "AllReduce #41 of tp0"
std::string DescribeRank(const JobModel& job, int rank);                // "rank 5 (node2, GPU 1)"
std::string DescribeRanks(const std::vector<int>& ranks);               // "ranks 0-3, 7"
std::string Seconds(DurationNs duration);                               // "7.2 s"
std::string AnchorOf(const JobModel& job, const Operation& operation);  // for ids
// The parts of a rank as components.
Component RankComponent(const JobModel& job, int rank);
Component GpuComponent(const JobModel& job, int rank);

}  // namespace c4::model
