// How rank 0's unique id reaches the other ranks: NCCL leaves that to the program.
//
// By a file in a directory that all ranks see (fresh for each run: an id of an earlier run cannot
// be told apart), or by TCP: rank 0 listens on host:port and gives the id to each that connects.
// Thread: main, at start; blocks up to a minute. What it is not: safe against strangers.
#pragma once

#include <string>

#include "tests/train/abi.h"

namespace c4::train {

// *id is given on rank 0 and filled on the others. False, with a message, when it took too long or
// cannot work.
bool ShareUniqueId(const std::string& where, int rank, int world_size, ncclUniqueId* id);

}  // namespace c4::train
