// Command line and environment of c4-train.
//
// Rank, world size and local rank come from RANK, WORLD_SIZE and LOCAL_RANK, as torchrun sets them.
// Thread: main. What it is not: a check that the GPUs exist.
#pragma once

#include <cstdint>
#include <string>

#include "tests/train/fault.h"

namespace c4::train {

struct Options {
  // Environment.
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;

  // Shape of the job. tensor * pipeline * data = world size.
  int tensor = 2;
  int pipeline = 2;
  int data = 2;
  int layers = 2;  // per stage; also the number of gradient buckets
  int microbatches = 4;
  int64_t steps = 20;  // 0: until killed

  // Size of the work. The defaults give steps of about 300 ms that leave a 2-core machine half idle
  // when eight ranks run on the stand-in libraries.
  double forward_ms = 8;  // one layer, one microbatch; backward takes twice that
  double optimizer_ms = 4;
  double jitter_percent = 2;  // standard deviation of every compute kernel
  int tensor_kib = 64;        // each AllReduce of a layer
  int pipeline_kib = 256;     // each activation or gradient between stages
  int bucket_kib = 512;       // gradients of one layer
  uint64_t seed = 1;

  int64_t checkpoint_every = 0;  // steps; 0: never
  int checkpoint_ms = 300;
  int64_t evaluation_every = 0;

  std::string rendezvous;  // directory, or host:port of rank 0
  std::string trigger_file;
  std::string onset_file;
  bool exit_on_error = false;  // on an asynchronous error of NCCL; else wait, as a hung job does
  Fault fault;
};

enum class ParseResult { kRun, kHelp, kUsageError };

// Reads both; prints what is wrong, or the help, itself.
ParseResult ParseOptions(int argc, char** argv, Options* options);

}  // namespace c4::train
