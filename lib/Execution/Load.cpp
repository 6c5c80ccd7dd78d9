// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/Load.h"
#include "HostJit.h"
#include "PlanFromIR.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

using namespace mlir;
using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

StatusOr<LoadedProgram> inlay::loadPlan(std::shared_ptr<const rt::Plan> plan, const LoadOptions &options) {
  LoadedProgram loaded;
  loaded.plan = std::move(plan);
  StatusOr<std::shared_ptr<rt::HostLibrary>> host = linkHostCode(loaded.plan->hostCode);
  if (!host.isOk())
    return host.status();
  if (!loaded.plan->engines.empty()) {
    StatusOr<std::shared_ptr<rt::Device>> device = rt::vulkan::openDevice(options.device);
    if (!device.isOk())
      return device.status();
    loaded.device = *device;
  }
  auto program = rt::Program::load(loaded.plan, loaded.device, *host, options.callbacks, options.runners,
                                   rt::host::getHostKernelLoader());
  if (!program.isOk())
    return program.status();
  loaded.program = std::move(*program);
  return loaded;
}

StatusOr<LoadedProgram> inlay::loadProgram(ModuleOp stitched, const LoadOptions &options) {
  FailureOr<std::shared_ptr<rt::Plan>> plan = readPlan(stitched, options.weights);
  if (failed(plan))
    return Status(StatusCode::InvalidArgument, "the module's program can't be loaded: see its diagnostics");
  return loadPlan(*plan, options);
}
