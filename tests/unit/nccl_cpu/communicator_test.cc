// How communicators are made and named, and what the library exports.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"
#include "tests/unit/nccl_cpu/values.h"

namespace c4::testing {
namespace {

void CheckAllReduce(Rank& rank, Gpu& gpu) {
  const auto buffer = gpu.Upload(Values(ncclInt64, 30'011, rank.rank()));
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 30'011, ncclInt64, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  C4_CHECK(gpu.Download(buffer) == ReducedValues(ncclInt64, 30'011, rank.nranks(), ncclSum));
}

C4_SCENARIO(WorldAllReduce) {
  Gpu gpu(rank);
  CheckAllReduce(rank, gpu);
}

C4_SCENARIO(SharedDeviceIsRefused) {
  UseDevice(0);
  ncclComm_t comm = nullptr;
  C4_CHECK(ncclCommInitRank(&comm, rank.nranks(), rank.UniqueId(), rank.rank()) ==
           ncclInvalidUsage);
  C4_CHECK(std::string(ncclGetLastError(nullptr)).find("Duplicate GPU") != std::string::npos);
  C4_CHECK(ncclCommAbort(comm) == ncclSuccess);
}

C4_SCENARIO(InitVariants) {
  const ncclUniqueId id = rank.UniqueId();
  ncclComm_t comm = nullptr;
  int value = -1;
  // Without a context, device 0 becomes current, as in the CUDA runtime.
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  C4_CHECK(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclSuccess);
  C4_CHECK(ncclCommCuDevice(comm, &value) == ncclSuccess && value == 0);
  C4_CHECK(ncclCommDestroy(comm) == ncclSuccess);
  config.magic = 0;
  C4_CHECK(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclInvalidArgument);
  C4_CHECK(ncclCommInitRank(&comm, 2, id, 2) == ncclInvalidArgument);
  const int devices[] = {5, 6};
  C4_CHECK(ncclCommInitAll(&comm, 2, devices) == ncclInvalidUsage);
  C4_CHECK(ncclCommInitAll(&comm, 1, devices) == ncclSuccess);
  C4_CHECK(ncclCommCuDevice(comm, &value) == ncclSuccess && value == 5);
  C4_CHECK(ncclCommCount(comm, &value) == ncclSuccess && value == 1);
  void* handle = nullptr;
  void* memory = nullptr;
  C4_CHECK(ncclMemAlloc(&memory, 100) == ncclSuccess);
  C4_CHECK(ncclCommRegister(comm, memory, 100, &handle) == ncclSuccess);
  C4_CHECK(ncclCommDeregister(comm, handle) == ncclSuccess);
  C4_CHECK(ncclMemFree(memory) == ncclSuccess);
  C4_CHECK(ncclCommDestroy(comm) == ncclSuccess);
  C4_CHECK(ncclCommDestroy(nullptr) == ncclSuccess);
  C4_CHECK(ncclGetVersion(&value) == ncclSuccess && value == 22809);
  C4_CHECK(std::string(ncclGetErrorString(ncclRemoteError)).find("remote") != std::string::npos);
}

TEST(Init, Variants) { EXPECT_TRUE(RunRanks("InitVariants", 1)); }

TEST(Init, SharedDeviceIsRefused) { EXPECT_TRUE(RunRanks("SharedDeviceIsRefused", 2)); }

// Two nodes on one machine: connections between them use the interface, those inside them loopback.
TEST(Init, SimulatedNodes) {
  for (const char* interface : {"lo", "=lo", ""}) {
    EXPECT_TRUE(RunRanks("WorldAllReduce", 4, [&](int rank) -> Environment {
      Environment environment = {{"C4_CPU_NODE", "node" + std::to_string(rank / 2)}};
      if (*interface != '\0') environment.emplace_back("NCCL_SOCKET_IFNAME", interface);
      return environment;
    })) << interface;
  }
}

TEST(Init, LogNamesTheCommunicatorAlikeOnAllRanks) {
  char directory[] = "/tmp/c4-nccl-cpu-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string base = std::string(directory) + "/log.";
  EXPECT_TRUE(RunRanks("WorldAllReduce", 3, [&](int rank) -> Environment {
    return {{"NCCL_DEBUG", "INFO"},
            {"NCCL_DEBUG_FILE", base + std::to_string(rank)},
            {"C4_CPU_NODE", "somehost"}};
  }));
  std::set<std::string> ids;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string name = base + std::to_string(rank);
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    const std::string log = text.str();
    EXPECT_EQ(log.rfind("somehost:", 0), 0u) << log;
    EXPECT_NE(log.find("[" + std::to_string(rank) + "] NCCL INFO ncclCommInitRank comm 0x"),
              std::string::npos)
        << log;
    const size_t id = log.find("commId 0x");
    ASSERT_NE(id, std::string::npos) << log;
    EXPECT_NE(log.find("- Init COMPLETE", id), std::string::npos) << log;
    ids.insert(log.substr(id, log.find(' ', id + 9) - id));
    EXPECT_EQ(std::remove(name.c_str()), 0);
  }
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_EQ(std::remove(directory), 0);
}

TEST(Symbols, EachFunctionHasItsProfilingAlias) {
  for (const char* name : {"ncclGetVersion",
                           "ncclGetUniqueId",
                           "ncclGetErrorString",
                           "ncclGetLastError",
                           "ncclCommInitRank",
                           "ncclCommInitRankConfig",
                           "ncclCommInitAll",
                           "ncclCommSplit",
                           "ncclCommFinalize",
                           "ncclCommDestroy",
                           "ncclCommAbort",
                           "ncclCommGetAsyncError",
                           "ncclCommCount",
                           "ncclCommCuDevice",
                           "ncclCommUserRank",
                           "ncclMemAlloc",
                           "ncclMemFree",
                           "ncclCommRegister",
                           "ncclCommDeregister",
                           "ncclRedOpCreatePreMulSum",
                           "ncclRedOpDestroy",
                           "ncclAllReduce",
                           "ncclReduce",
                           "ncclBcast",
                           "ncclBroadcast",
                           "ncclReduceScatter",
                           "ncclAllGather",
                           "ncclAlltoAll",
                           "ncclGather",
                           "ncclScatter",
                           "ncclSend",
                           "ncclRecv",
                           "ncclGroupStart",
                           "ncclGroupEnd",
                           "ncclGroupSimulateEnd"}) {
    void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    void* function = dlsym(library, name);
    EXPECT_NE(function, nullptr) << name;
    EXPECT_EQ(function, dlsym(library, ("p" + std::string(name)).c_str())) << name;
    dlclose(library);
  }
}

}  // namespace
}  // namespace c4::testing

// This program's definitions come before the library's in symbol lookup, as a preloaded wrapper's
// would. They show which calls the library makes to itself through its exported names.
namespace {
int broadcasts_seen = 0;
}  // namespace

extern "C" __attribute__((visibility("default"))) ncclResult_t ncclBroadcast(
    const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
    ncclComm_t comm, cudaStream_t stream) {
  ++broadcasts_seen;
  using Function = decltype(&ncclBroadcast);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "ncclBroadcast"));
  return real(sendbuff, recvbuff, count, datatype, root, comm, stream);
}

namespace c4::testing {
namespace {

C4_SCENARIO(BcastCallsBroadcast) {
  Gpu gpu(rank);
  const auto buffer = gpu.Upload(Values(ncclInt32, 10, rank.rank()));
  C4_CHECK(ncclBcast(buffer.get(), 10, ncclInt32, 1, gpu.comm(), gpu.stream()) == ncclSuccess);
  C4_CHECK(broadcasts_seen == 1);
  C4_CHECK(gpu.Download(buffer) == Values(ncclInt32, 10, 1));
}

TEST(Symbols, BcastCallsTheExportedBroadcast) { EXPECT_TRUE(RunRanks("BcastCallsBroadcast", 2)); }

}  // namespace
}  // namespace c4::testing
