// Devices and their properties; the contract is in device.h.
#include "tests/nccl_cpu/cuda/device.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>

#include "tests/nccl_cpu/cuda/context.h"
#include "tests/nccl_cpu/host_identity.h"

namespace c4::cuda_cpu {
namespace {

constexpr int kDefaultDevices = 8;
constexpr int kMaxDevices = 64;
constexpr size_t kTotalMemory = size_t{80} << 30;
constexpr int kDriverVersion = 13000;

std::atomic<bool> initialized{false};

uint64_t Fnv1a(const std::string& text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Device MakeDevice(const std::string& host, int ordinal) {
  // Where an 8-GPU HGX machine has them, then wherever there is room.
  static constexpr int kBuses[] = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};
  Device device{};
  device.physical_ordinal = ordinal;
  device.pci_bus = ordinal < 8 ? kBuses[ordinal] : 0xe0 + (ordinal - 8);
  const std::string key = host + "/" + std::to_string(ordinal);
  const uint64_t halves[2] = {Fnv1a(key, 0xcbf29ce484222325), Fnv1a(key, 0x84222325cbf29ce4)};
  std::memcpy(device.uuid.bytes, halves, sizeof(halves));
  return device;
}

std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::vector<Device> PhysicalDevices() {
  int count = kDefaultDevices;
  if (const char* text = std::getenv("C4_CPU_DEVICES")) count = std::atoi(text);
  std::vector<Device> devices;
  const std::string host = cpu::HostName();
  for (int i = 0; i < count && i < kMaxDevices; ++i) devices.push_back(MakeDevice(host, i));
  return devices;
}

std::vector<Device> VisibleDevices() {
  std::vector<Device> physical = PhysicalDevices();
  const char* filter = std::getenv("CUDA_VISIBLE_DEVICES");
  if (filter == nullptr) return physical;
  std::vector<Device> visible;
  std::stringstream names(filter);
  for (std::string name; std::getline(names, name, ',');) {
    const Device* found = nullptr;
    for (const Device& device : physical) {
      const bool by_uuid = name.size() > 4 && UuidText(device.uuid).rfind(name, 0) == 0;
      if (by_uuid || name == std::to_string(device.physical_ordinal)) found = &device;
    }
    if (found == nullptr) break;
    visible.push_back(*found);
  }
  return visible;
}

// Leaked on purpose: stream workers may still run while the process exits.
std::vector<Device>& Devices() {
  static auto& devices = *[] {
    auto* list = new std::vector<Device>(VisibleDevices());
    for (size_t i = 0; i < list->size(); ++i) {
      (*list)[i].primary_context = new CUctx_st(static_cast<CUdevice>(i));
    }
    return list;
  }();
  return devices;
}

CUresult CheckDevice(CUdevice device) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult CopyText(const char* text, char* out, int len) {
  if (out == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(out, static_cast<size_t>(len), "%s", text);
  return CUDA_SUCCESS;
}

}  // namespace

bool Initialized() { return initialized.load(std::memory_order_acquire); }

bool IsDevice(CUdevice device) {
  return device >= 0 && static_cast<size_t>(device) < Devices().size();
}

const Device& GetDevice(CUdevice device) { return Devices()[static_cast<size_t>(device)]; }

}  // namespace c4::cuda_cpu

using c4::cuda_cpu::CheckDevice;
using c4::cuda_cpu::Devices;
using c4::cuda_cpu::GetDevice;

C4_CUDA_API CUresult cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (Devices().empty()) return CUDA_ERROR_NO_DEVICE;
  // Pairs with the acquire in Initialized().
  c4::cuda_cpu::initialized.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = c4::cuda_cpu::kDriverVersion;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuDeviceGetCount(int* count) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(Devices().size());
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  const CUresult result = CheckDevice(ordinal);
  if (result == CUDA_SUCCESS) *device = ordinal;
  return result;
}

C4_CUDA_API CUresult cuDeviceGetName(char* name, int len, CUdevice device) {
  const CUresult result = CheckDevice(device);
  return result != CUDA_SUCCESS ? result : c4::cuda_cpu::CopyText("C4 CPU device", name, len);
}

C4_CUDA_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  const CUresult result = CheckDevice(device);
  if (result == CUDA_SUCCESS) *uuid = GetDevice(device).uuid;
  return result;
}

#undef cuDeviceGetUuid
C4_CUDA_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

C4_CUDA_API CUresult cuDeviceGetPCIBusId(char* pci_bus_id, int len, CUdevice device) {
  const CUresult result = CheckDevice(device);
  if (result != CUDA_SUCCESS) return result;
  char text[16];
  std::snprintf(text, sizeof(text), "0000:%02X:00.0", GetDevice(device).pci_bus & 0xff);
  return c4::cuda_cpu::CopyText(text, pci_bus_id, len);
}

C4_CUDA_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                          CUdevice device) {
  const CUresult result = CheckDevice(device);
  if (result != CUDA_SUCCESS) return result;
  if (value == nullptr || attribute <= 0) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<int>(attribute)) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      *value = 1'980'000;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = GetDevice(device).pci_bus;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      *value = 3;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      return CUDA_SUCCESS;
    default:  // "not supported" and "zero" are the same answer for what is left
      *value = 0;
      return CUDA_SUCCESS;
  }
}

C4_CUDA_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  const CUresult result = CheckDevice(device);
  if (result == CUDA_SUCCESS) *bytes = c4::cuda_cpu::kTotalMemory;
  return result;
}

C4_CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const CUresult result = CheckDevice(device);
  if (result == CUDA_SUCCESS) *context = GetDevice(device).primary_context;
  return result;
}

// The primary context is never torn down, so there is nothing to count.
C4_CUDA_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return CheckDevice(device); }
