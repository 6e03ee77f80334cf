// ncclGroupStart/End: what a thread collects between them, and how it is started.
//
// Nothing starts before the outermost End: first communicators are made (side by side, so that
// ranks may make several in different orders), then each communicator's operations are launched as
// one plan. The first error of a group is what End returns, and nothing of that group is started.
// Thread: each thread has its own group.
#pragma once

#include <functional>
#include <memory>

#include "tests/nccl_cpu/nccl/communicator.h"
#include "tests/nccl_cpu/nccl/operation.h"

namespace c4::nccl_cpu {

void GroupBegin();
bool InGroup();
// Starts everything when it closes the outermost group.
ncclResult_t GroupFinish();
// Closes a group and, if it was the outermost, drops what it collected.
ncclResult_t GroupForget();

// Inside a group only (the API functions open one round each call).
void AddOperation(const std::shared_ptr<Communicator>& comm, const Operation& operation);
// Runs at the outermost End. Jobs of one owner (the parent of a split) run in the order they came
// in, jobs of different owners at the same time.
void AddJob(const void* owner, std::function<ncclResult_t()> job);
void SetGroupError(ncclResult_t error);

}  // namespace c4::nccl_cpu
