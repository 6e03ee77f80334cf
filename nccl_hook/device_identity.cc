#include "nccl_hook/device_identity.h"

#include <cstring>

#include "nccl_hook/identity.h"

namespace c4::hook {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr std::size_t kPciTextBytes = 12;  // "0000:1b:00.0"

}  // namespace

void FormatUuid(const cuda::Uuid& uuid, char* text) {
  std::memcpy(text, "GPU-", 4);
  text += 4;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      *text++ = '-';
    }
    *text++ = kHexDigits[uuid.bytes[i] >> 4];
    *text++ = kHexDigits[uuid.bytes[i] & 0xf];
  }
  *text = '\0';
}

void NormalisePciAddress(char* text) {
  const std::size_t length = std::strlen(text);
  if (length > kPciTextBytes) {  // a domain of eight digits
    std::memmove(text, text + length - kPciTextBytes, kPciTextBytes + 1);
  }
  for (; *text != '\0'; ++text) {
    if (*text >= 'A' && *text <= 'F') {
      *text = static_cast<char>(*text - 'A' + 'a');
    }
  }
}

void FillDeviceIdentity(const Driver& driver, abi::Header* header) {
  int version = 0;
  if (driver.driver_get_version(&version) == cuda::kSuccess) {
    header->cuda_driver_version = version;
  }
  cuda::Device device = -1;
  if (driver.context_get_device(&device) != cuda::kSuccess) {
    return;
  }
  cuda::Uuid uuid = {};
  if (driver.device_get_uuid(&uuid, device) == cuda::kSuccess) {
    char text[kUuidTextBytes];
    FormatUuid(uuid, text);
    CopyLabel(header->gpu_uuid, sizeof(header->gpu_uuid), text);
  }
  char pci[32] = {};
  if (driver.device_get_pci_bus_id(pci, sizeof(pci), device) == cuda::kSuccess) {
    NormalisePciAddress(pci);
    CopyLabel(header->gpu_pci, sizeof(header->gpu_pci), pci);
  }
  // Last: a CUdevice is its ordinal. Release; pairs with a reader that waits for the device.
  __atomic_store_n(&header->device, device, __ATOMIC_RELEASE);
}

}  // namespace c4::hook
