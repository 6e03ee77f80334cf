// Implementation of group.h.
#include "tests/nccl_cpu/nccl/group.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "tests/nccl_cpu/nccl/cuda_driver.h"
#include "tests/nccl_cpu/nccl/plan.h"

namespace c4::nccl_cpu {
namespace {

struct Work {
  std::shared_ptr<Communicator> comm;
  std::vector<Operation> operations;
};

using Job = std::function<ncclResult_t()>;

struct JobChain {
  const void* owner;
  std::vector<Job> jobs;
};

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<JobChain> chains;
  std::vector<Work> work;  // in order of first use
};

thread_local Group group;

ncclResult_t RunChain(const JobChain& chain) {
  for (const Job& job : chain.jobs) {
    if (const ncclResult_t result = job(); result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

ncclResult_t RunJobs(const std::vector<JobChain>& chains) {
  if (chains.empty()) return ncclSuccess;
  std::vector<ncclResult_t> results(chains.size(), ncclSuccess);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < chains.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = RunChain(chains[i]); });
  }
  results[0] = RunChain(chains[0]);
  for (std::thread& thread : threads) thread.join();
  const auto failed = std::find_if(results.begin(), results.end(),
                                   [](ncclResult_t result) { return result != ncclSuccess; });
  return failed == results.end() ? ncclSuccess : *failed;
}

}  // namespace

void GroupBegin() { ++group.depth; }

ncclResult_t GroupFinish() {
  if (--group.depth > 0) return ncclSuccess;
  const Group finished = std::exchange(group, Group());
  if (finished.error != ncclSuccess) return finished.error;
  ncclResult_t result = RunJobs(finished.chains);
  for (const Work& work : finished.work) {
    if (result == ncclSuccess) result = LaunchPlan(work.comm, work.operations);
  }
  return result;
}

ncclResult_t GroupForget() {
  if (--group.depth > 0) return ncclSuccess;
  return std::exchange(group, Group()).error;
}

bool InGroup() { return group.depth > 0; }

void AddOperation(const std::shared_ptr<Communicator>& comm, const Operation& operation) {
  auto found = std::find_if(group.work.begin(), group.work.end(),
                            [&](const Work& work) { return work.comm == comm; });
  if (found == group.work.end()) found = group.work.insert(found, Work{comm, {}});
  found->operations.push_back(operation);
}

void AddJob(const void* owner, Job job) {
  auto found = std::find_if(group.chains.begin(), group.chains.end(),
                            [&](const JobChain& chain) { return chain.owner == owner; });
  if (found == group.chains.end()) found = group.chains.insert(found, JobChain{owner, {}});
  found->jobs.push_back(std::move(job));
}

void SetGroupError(ncclResult_t error) {
  if (group.error == ncclSuccess) group.error = error;
}

}  // namespace c4::nccl_cpu
