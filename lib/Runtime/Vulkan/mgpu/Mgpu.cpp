// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mgpu* entry points that upstream MLIR's gpu-to-llvm calls. All work is done when a call returns, so streams and
// events are dummies. The ABI can't report failures: each message goes to stderr, and the first one is kept for
// inlayMgpuLastError.

#include "Launcher.h"

#include <cstdio>
#include <cstring>

using namespace inlay::rt;
using namespace inlay::rt::vulkan::mgpu;

#define INLAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct LastError {
  std::mutex mutex;
  std::string message;
};

} // namespace

static LastError &lastError() {
  static LastError *error = new LastError;
  return *error;
}

static void report(const char *call, const std::string &message) {
  std::fprintf(stderr, "inlay: %s: %s\n", call, message.c_str());
  LastError &error = lastError();
  std::lock_guard<std::mutex> lock(error.mutex);
  if (error.message.empty())
    error.message = std::string(call) + ": " + message;
}

/// Returns the message of the first failure of the process, or null. The text stays valid.
INLAY_EXPORT const char *inlayMgpuLastError() {
  LastError &error = lastError();
  std::lock_guard<std::mutex> lock(error.mutex);
  return error.message.empty() ? nullptr : error.message.c_str();
}

INLAY_EXPORT void *mgpuModuleLoad(const void *data, size_t bytes) {
  if (!data || bytes % sizeof(uint32_t) != 0) {
    report("mgpuModuleLoad", "expected SPIR-V words, but got " + std::to_string(bytes) + " bytes");
    return nullptr;
  }
  auto words = std::make_shared<std::vector<uint32_t>>(bytes / sizeof(uint32_t));
  std::memcpy(words->data(), data, bytes);
  auto *module = new Module;
  module->spirv = std::move(words);
  return module;
}

INLAY_EXPORT void *mgpuModuleLoadJIT(const void *, int, size_t) {
  report("mgpuModuleLoadJIT", "SPIR-V comes as a binary: use gpu-module-to-binary with format=bin");
  return nullptr;
}

INLAY_EXPORT void mgpuModuleUnload(void *module) { delete static_cast<Module *>(module); }

INLAY_EXPORT void *mgpuModuleGetFunction(void *handle, const char *name) {
  if (!handle) {
    report("mgpuModuleGetFunction", "the module wasn't loaded");
    return nullptr;
  }
  auto *module = static_cast<Module *>(handle);
  std::lock_guard<std::mutex> lock(module->mutex);
  std::unique_ptr<Function> &function = module->functions[name];
  if (!function) {
    function = std::make_unique<Function>();
    function->spirv = module->spirv;
    function->name = name;
  }
  return function.get();
}

/// Launches a kernel. `params` alternates between the addresses of a pointer and of a size in bytes. That is the
/// calling convention of gpu-to-llvm with bare pointers for kernels and interspersed sizes.
INLAY_EXPORT void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY, intptr_t gridZ, intptr_t, intptr_t,
                                   intptr_t, int32_t, void *, void **params, void **, size_t paramsCount) {
  if (!function)
    return report("mgpuLaunchKernel", "the function wasn't found");
  if (paramsCount % 2 != 0)
    return report("mgpuLaunchKernel", "expected pointers and sizes in turn, but got " + std::to_string(paramsCount) +
                                          " parameters (use-bare-pointers-for-kernels, intersperse-sizes-for-kernels)");
  std::vector<Argument> arguments;
  for (size_t i = 0; i < paramsCount; i += 2)
    arguments.push_back({*static_cast<void **>(params[i]), *static_cast<size_t *>(params[i + 1])});
  Status status = Launcher::get().launch(*static_cast<Function *>(function), {gridX, gridY, gridZ}, arguments);
  if (!status.isOk())
    report("mgpuLaunchKernel", status.message());
}

INLAY_EXPORT void *mgpuMemAlloc(uint64_t bytes, void *, bool) {
  StatusOr<void *> data = Launcher::get().allocate(bytes);
  if (data.isOk())
    return *data;
  report("mgpuMemAlloc", data.status().message());
  return nullptr;
}

INLAY_EXPORT void mgpuMemFree(void *data, void *) {
  if (data && !Launcher::get().release(data))
    report("mgpuMemFree", "the memory isn't from mgpuMemAlloc");
}

INLAY_EXPORT void mgpuMemcpy(void *target, void *source, size_t bytes, void *) {
  if (bytes)
    std::memmove(target, source, bytes);
}

INLAY_EXPORT void mgpuMemset32(void *target, uint32_t value, size_t count, void *) {
  for (size_t i = 0; i < count; ++i)
    static_cast<uint32_t *>(target)[i] = value;
}

INLAY_EXPORT void mgpuMemset16(void *target, uint16_t value, size_t count, void *) {
  for (size_t i = 0; i < count; ++i)
    static_cast<uint16_t *>(target)[i] = value;
}

// Streams and events are non-null tokens without content.
static char token;
INLAY_EXPORT void *mgpuStreamCreate() { return &token; }
INLAY_EXPORT void mgpuStreamDestroy(void *) {}
INLAY_EXPORT void mgpuStreamSynchronize(void *) {}
INLAY_EXPORT void mgpuStreamWaitEvent(void *, void *) {}
INLAY_EXPORT void *mgpuEventCreate() { return &token; }
INLAY_EXPORT void mgpuEventDestroy(void *) {}
INLAY_EXPORT void mgpuEventSynchronize(void *) {}
INLAY_EXPORT void mgpuEventRecord(void *, void *) {}

// Host memory needs no registration, because a launch copies memory that the device can't see. INLAY_DEVICE selects the
// device.
INLAY_EXPORT void mgpuMemHostRegister(void *, uint64_t) {}
INLAY_EXPORT void mgpuMemHostUnregister(void *) {}
INLAY_EXPORT void mgpuMemHostRegisterMemRef(int64_t, void *, int64_t) {}
INLAY_EXPORT void mgpuMemHostUnregisterMemRef(int64_t, void *, int64_t) {}
INLAY_EXPORT void mgpuSetDefaultDevice(int32_t) {}
