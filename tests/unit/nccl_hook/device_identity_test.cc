#include "nccl_hook/device_identity.h"

#include <gtest/gtest.h>

namespace c4::hook {
namespace {

TEST(FormatUuid, WritesItAsNvidiaSmiDoes) {
  cuda::Uuid uuid;
  for (int i = 0; i < 16; ++i) {
    uuid.bytes[i] = static_cast<unsigned char>(0x10 * (15 - i) + i);
  }
  char text[kUuidTextBytes];
  FormatUuid(uuid, text);
  EXPECT_STREQ(text, "GPU-f0e1d2c3-b4a5-9687-7869-5a4b3c2d1e0f");
}

TEST(NormalisePciAddress, WritesItAsSysfsDoes) {
  char cuda[] = "0000:1B:00.0";
  NormalisePciAddress(cuda);
  EXPECT_STREQ(cuda, "0000:1b:00.0");
  char nvml[] = "00000001:AF:00.1";
  NormalisePciAddress(nvml);
  EXPECT_STREQ(nvml, "0001:af:00.1");
}

}  // namespace
}  // namespace c4::hook
