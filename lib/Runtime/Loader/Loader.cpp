// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Loader/Loader.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Host/ObjectLoader.h"
#include "inlay/Runtime/Loader/SharedDevice.h"

namespace inlay::rt {

StatusOr<OpenedProgram> loadPlan(std::shared_ptr<const Plan> plan, const OpenOptions &options) {
  OpenedProgram opened;
  opened.plan = std::move(plan);
  StatusOr<std::shared_ptr<HostLibrary>> host = host::linkHostCode(opened.plan->hostCode);
  if (!host.isOk())
    return host.status();
  if (!opened.plan->engines.empty()) {
    StatusOr<std::shared_ptr<Device>> device = shareDevice(options.device, *opened.plan);
    if (!device.isOk())
      return device.status();
    opened.device = std::move(*device);
  }
  auto program =
      Program::load(opened.plan, opened.device, *host, options.callbacks, options.runners, host::getHostKernelLoader());
  if (!program.isOk())
    return program.status();
  opened.program = std::move(*program);
  if (options.stop)
    opened.program->stopWhen(options.stop);
  return opened;
}

} // namespace inlay::rt
