// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a probed plan and compares each launch with its host version, with a tolerance per type. SegmentProbes.cpp
// adds the probes to the plan.

#include "inlay/Runtime/Loader/SegmentCheck.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Host/ObjectLoader.h"

#include <fmt/format.h>

#include <mutex>

namespace inlay::rt {

double tolerance(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return 1e-10;
  case ElementType::F32:
    return 1e-4;
  case ElementType::F16:
    return 5e-3;
  case ElementType::BF16:
    return 4e-2;
  default:
    return 0;
  }
}

StatusOr<SegmentCheck> checkSegments(const LoadedProgram &opened, const OpenOptions &options,
                                     const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) {
  ProbedPlan probed = probeSegments(*opened.plan);
  std::mutex mutex;
  auto onCallback = [&](uint32_t number, const std::vector<TensorView> &read, const std::vector<TensorView> &written,
                        const std::vector<int64_t> &sizes) {
    if (number < probed.firstProbe)
      return options.callbacks ? options.callbacks(number, read, written, sizes)
                               : Status(StatusCode::NotFound, "a callback has no handler");
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<SegmentDifference> &differences = probed.probes[number - probed.firstProbe];
    for (size_t i = 0; i < differences.size(); ++i)
      differences[i].add(read[i], read[differences.size() + i]), ++differences[i].runs;
    return Status::ok();
  };
  Budget budget(UINT64_MAX); // the code was linked before, when the program was loaded
  StatusOr<std::shared_ptr<HostSymbolResolver>> host = host::linkHostCode(probed.plan.hostCode, budget);
  if (!host.isOk())
    return host.status();
  auto plan = std::make_shared<const Plan>(std::move(probed.plan));
  auto program = Program::load(plan, opened.device, *host, onCallback, options.runners, host::getHostKernelLoader());
  if (!program.isOk())
    return program.status();
  StatusOr<std::shared_ptr<Session>> session = (*program)->makeSession();
  if (!session.isOk())
    return session.status();
  INLAY_RETURN_IF_ERROR((*program)->call(inputs, outputs, session->get()));
  SegmentCheck check;
  check.unchecked = std::move(probed.unprobed);
  for (std::vector<SegmentDifference> &differences : probed.probes)
    check.differences.insert(check.differences.end(), differences.begin(), differences.end());
  return check;
}

} // namespace inlay::rt
