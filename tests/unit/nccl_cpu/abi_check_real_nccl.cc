// Holds the real <nccl.h> (with the real <cuda.h>) to the same facts, at compile time.
#include <cuda.h>
#include <nccl.h>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#include "tests/unit/nccl_cpu/nccl_abi_facts.h"
