// Holds the real <cuda.h> to the same facts, at compile time; our header must then declare nothing.
#include <cuda.h>

#include "tests/nccl_cpu/include/c4_cuda_abi.h"
#include "tests/unit/nccl_cpu/abi_facts.h"
