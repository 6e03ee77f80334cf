// One rank of a small job on the CPU stand-ins (tests/nccl_cpu): real communicators, real streams,
// real waiting of ranks for each other. hook_job_test.cc starts one process per rank under the
// hook.
//
// Usage: hook_rank SCENARIO DIRECTORY RANK RANKS
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/nccl_cpu/include/c4_cuda_abi.h"
#include "tests/nccl_cpu/include/c4_nccl_abi.h"

#define CHECK_OK(call)                                                            \
  do {                                                                            \
    const int status = static_cast<int>(call);                                    \
    if (status != 0) {                                                            \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status); \
      std::_Exit(1);                                                              \
    }                                                                             \
  } while (false)

namespace {

constexpr std::size_t kCount = 4096;
constexpr useconds_t kLateUs = 60'000;

struct Job {
  std::string scenario;
  std::string directory;
  int rank;
  int ranks;
  ncclComm_t world;
  CUstream stream;
  float* buffer;
};

// Rank 0 writes the id beside its final name; a rename shows it whole.
ncclUniqueId ShareId(const Job& job) {
  ncclUniqueId id;
  const std::string path = job.directory + "/id";
  if (job.rank == 0) {
    CHECK_OK(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary).write(id.internal, sizeof(id.internal));
    CHECK_OK(std::rename((path + ".new").c_str(), path.c_str()));
    return id;
  }
  std::ifstream stream;
  while (stream.open(path, std::ios::binary), !stream.is_open()) {
    usleep(1000);
  }
  stream.read(id.internal, sizeof(id.internal));
  return id;
}

void AllReduce(const Job& job, ncclComm_t communicator) {
  CHECK_OK(
      ncclAllReduce(job.buffer, job.buffer, kCount, ncclFloat, ncclSum, communicator, job.stream));
}

// Communicators with and without this rank, collectives on each, a ring of sends, one late rank.
void Train(const Job& job) {
  ncclComm_t half = nullptr;
  ncclComm_t without_last = nullptr;
  CHECK_OK(ncclCommSplit(job.world, job.rank % 2, job.rank, &half, nullptr));
  const int color = job.rank == job.ranks - 1 ? NCCL_SPLIT_NOCOLOR : 7;
  CHECK_OK(ncclGroupStart());
  CHECK_OK(ncclCommSplit(job.world, color, job.rank, &without_last, nullptr));
  CHECK_OK(ncclGroupEnd());
  AllReduce(job, job.world);
  AllReduce(job, half);
  if (without_last != nullptr) {
    AllReduce(job, without_last);
  }
  CHECK_OK(cuStreamSynchronize(job.stream));
  CHECK_OK(ncclGroupStart());
  CHECK_OK(
      ncclSend(job.buffer, kCount, ncclFloat, (job.rank + 1) % job.ranks, job.world, job.stream));
  CHECK_OK(ncclRecv(job.buffer + kCount, kCount, ncclFloat, (job.rank + job.ranks - 1) % job.ranks,
                    job.world, job.stream));
  CHECK_OK(ncclGroupEnd());
  CHECK_OK(cuStreamSynchronize(job.stream));
  if (job.rank == 2) {
    usleep(kLateUs);
  }
  AllReduce(job, job.world);
  CHECK_OK(cuStreamSynchronize(job.stream));
  CHECK_OK(ncclCommDestroy(half));
  CHECK_OK(ncclCommDestroy(job.world));
}

// The stream of rank 1 never gets to its collective; the others wait in theirs.
void Hang(const Job& job) {
  if (job.rank == 1) {
    CHECK_OK(cuLaunchHostFunc(
        job.stream, [](void*) { pause(); }, nullptr));
  }
  AllReduce(job, job.world);
  std::puts("ready");
  std::fflush(stdout);
  pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    return 2;
  }
  Job job = {argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]), nullptr, nullptr, nullptr};
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CHECK_OK(cuInit(0));
  CHECK_OK(cuDeviceGet(&device, job.rank));
  CHECK_OK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK_OK(cuCtxSetCurrent(context));
  CHECK_OK(cuStreamCreate(&job.stream, CU_STREAM_NON_BLOCKING));
  CHECK_OK(cuMemAlloc(&memory, 2 * kCount * sizeof(float)));
  job.buffer = reinterpret_cast<float*>(memory);
  CHECK_OK(ncclCommInitRank(&job.world, job.ranks, ShareId(job), job.rank));
  if (job.scenario == "hang") {
    Hang(job);
  } else {
    Train(job);
  }
  return 0;
}
