// Holds our own headers to the facts, at compile time.
#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#include "tests/unit/nccl_cpu/nccl_abi_facts.h"
