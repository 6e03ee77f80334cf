#include "nccl_hook/identity.h"

#include <climits>
#include <cstring>

namespace c4::hook {
namespace {

// One launcher's names. A rank is only meaningful together with the world of the same launcher, so
// a family is taken whole or not at all. torchrun comes first: under Slurm with torchrun,
// SLURM_PROCID numbers the nodes, not the ranks.
struct RankFamily {
  const char* rank;
  const char* world;
  const char* local;
};
constexpr RankFamily kRankFamilies[] = {
    {"C4_RANK", "C4_WORLD_SIZE", "C4_LOCAL_RANK"},
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
};

// Names of the job that all its ranks share, most deliberate first. `part` is appended after a
// separator where it is set: a Slurm step, the namespace of a Kubernetes job.
struct JobSource {
  const char* name;
  const char* part;
  char separator;
};
constexpr JobSource kJobSources[] = {
    {"C4_JOB_ID", nullptr, 0},
    {"SLURM_JOB_ID", "SLURM_STEP_ID", '.'},
    {"SLURM_JOBID", "SLURM_STEPID", '.'},
    {"JOBSET_NAME", "POD_NAMESPACE", '@'},  // exposed by the pod's template
    {"PYTORCHJOB_NAME", "POD_NAMESPACE", '@'},
    {"JOB_NAME", "POD_NAMESPACE", '@'},
    {"TORCHELASTIC_RUN_ID", nullptr, 0},
    {"LSB_JOBID", nullptr, 0},
    {"PBS_JOBID", nullptr, 0},
    {"MASTER_ADDR", "MASTER_PORT", ':'},  // no name at all, but the same on every rank
};

constexpr const char* kNodeNames[] = {"C4_NODE_NAME", "SLURMD_NODENAME", "NODE_NAME"};
constexpr const char* kRestartCounts[] = {"C4_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT",
                                          "SLURM_RESTART_COUNT"};

const char* NonEmpty(GetVariable get, const char* name) {
  const char* value = get(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

void ReadRank(GetVariable get, Identity* identity) {
  for (const RankFamily& family : kRankFamilies) {
    const int rank = ParseNumber(get(family.rank));
    if (rank < 0) {
      continue;
    }
    const int world = ParseNumber(get(family.world));
    identity->global_rank = rank;
    identity->world_size = world > rank ? world : -1;
    identity->local_rank = ParseNumber(get(family.local));
    return;
  }
}

void ReadJob(GetVariable get, Identity* identity) {
  for (const JobSource& source : kJobSources) {
    const char* name = NonEmpty(get, source.name);
    // torchrun's default run id says nothing: every job on the machine has it.
    if (name == nullptr || std::strcmp(name, "none") == 0) {
      continue;
    }
    CopyLabel(identity->job, sizeof(identity->job), name);
    const char* part = source.part != nullptr ? NonEmpty(get, source.part) : nullptr;
    const std::size_t length = strnlen(identity->job, sizeof(identity->job));
    if (part != nullptr && length + 1 < sizeof(identity->job)) {
      identity->job[length] = source.separator;
      CopyLabel(identity->job + length + 1, sizeof(identity->job) - length - 1, part);
    }
    return;
  }
}

}  // namespace

int ParseNumber(const char* text) {
  if (text == nullptr || *text == '\0') {
    return -1;
  }
  std::int64_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') {
      return -1;
    }
    value = value * 10 + (*text - '0');
    if (value > INT_MAX) {
      return -1;
    }
  }
  return static_cast<int>(value);
}

void CopyLabel(char* destination, std::size_t capacity, const char* source) {
  const std::size_t length = strnlen(source, capacity);
  std::memcpy(destination, source, length);
  std::memset(destination + length, 0, capacity - length);
}

Identity ReadIdentity(GetVariable get) {
  Identity identity;
  ReadRank(get, &identity);
  ReadJob(get, &identity);
  for (const char* name : kNodeNames) {
    if (const char* node = NonEmpty(get, name)) {
      CopyLabel(identity.node, sizeof(identity.node), node);
      break;
    }
  }
  for (const char* name : kRestartCounts) {
    if (const int count = ParseNumber(get(name)); count >= 0) {
      identity.restart_count = static_cast<std::uint32_t>(count);
      break;
    }
  }
  return identity;
}

}  // namespace c4::hook
