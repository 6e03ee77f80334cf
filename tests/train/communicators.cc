// Implementation of communicators.h.
#include "tests/train/communicators.h"

#include <unistd.h>

#include "tests/train/check.h"
#include "tests/train/rendezvous.h"

namespace c4::train {
namespace {

ncclComm_t Split(ncclComm_t world, int color, int key, const char* name) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#if NCCL_VERSION_CODE >= 22703
  config.commName = name;
#else
  (void)name;
#endif
  ncclComm_t comm = nullptr;
  C4_TRAIN_NCCL(ncclCommSplit(world, color, key, &comm, &config));
  return comm;
}

}  // namespace

Position PositionOf(int rank, const Options& options) {
  return {.tensor = rank % options.tensor,
          .data = rank / options.tensor % options.data,
          .pipeline = rank / options.tensor / options.data};
}

int RankAt(const Position& position, const Options& options) {
  return (position.pipeline * options.data + position.data) * options.tensor + position.tensor;
}

Communicators CreateCommunicators(const Options& options) {
  ncclUniqueId id{};
  if (options.rank == 0) C4_TRAIN_NCCL(ncclGetUniqueId(&id));
  if (!ShareUniqueId(options.rendezvous, options.rank, options.world_size, &id)) {
    _exit(kExitApiFailed);
  }
  Communicators made;
  C4_TRAIN_NCCL(ncclCommInitRank(&made.world, options.world_size, id, options.rank));
  // A color is the same for all members of a group and for nobody else: the two coordinates that
  // they share. The key orders them by the one in which they differ.
  const Position at = PositionOf(options.rank, options);
  made.tensor =
      Split(made.world, at.pipeline * options.data + at.data, at.tensor, "tensor_parallel");
  made.data = Split(made.world, at.pipeline * options.tensor + at.tensor, at.data, "data_parallel");
  made.pipeline =
      Split(made.world, at.data * options.tensor + at.tensor, at.pipeline, "pipeline_parallel");
  return made;
}

void DestroyCommunicators(const Communicators& communicators) {
  // Children first.
  C4_TRAIN_NCCL(ncclCommDestroy(communicators.tensor));
  C4_TRAIN_NCCL(ncclCommDestroy(communicators.data));
  C4_TRAIN_NCCL(ncclCommDestroy(communicators.pipeline));
  C4_TRAIN_NCCL(ncclCommDestroy(communicators.world));
}

}  // namespace c4::train
