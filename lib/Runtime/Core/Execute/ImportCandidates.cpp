// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ImportCandidates.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>

namespace inlay::rt {

namespace {

class ImportFinder {
public:
  ImportFinder(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule)
      : plan_(plan), access_(access), schedule_(schedule), isImported_(plan.buffers.size()) {}
  std::vector<ImportCandidate> run();

private:
  bool isDevice(uint32_t storage) const;
  bool isWritten(uint32_t storage, uint32_t first, uint32_t except) const;
  bool canReadInPlace(uint32_t copy) const;
  bool canWriteInPlace(uint32_t copy) const;
  void importMemory(uint32_t buffer, uint32_t storage);

  const Plan &plan_;
  const std::vector<StepAccesses> &access_;
  const Schedule &schedule_;
  std::vector<bool> isImported_; ///< Per storage.
  std::vector<ImportCandidate> candidates_;
};

} // namespace

bool ImportFinder::isDevice(uint32_t storage) const {
  return plan_.buffers[storage].kind == BufferKind::Temporary && schedule_.onDevice[storage] && !isImported_[storage];
}

/// Returns true if a step from `first` on other than `except` writes the storage. Elided copies do not count, because
/// they stay within their storage.
bool ImportFinder::isWritten(uint32_t storage, uint32_t first, uint32_t except) const {
  for (uint32_t step = first; step < access_.size(); ++step)
    for (auto [buffer, access] : access_[step])
      if (step != except && !schedule_.elided[step] && schedule_.storage[buffer] == storage && writes(access))
        return true;
  return false;
}

/// Returns true if a device can read the copy's source in place: the copy alone writes its target.
bool ImportFinder::canReadInPlace(uint32_t copy) const {
  const std::vector<uint32_t> &buffers = plan_.steps[copy].buffers;
  uint32_t target = schedule_.storage[buffers[1]];
  return plan_.buffers[buffers[0]].kind == BufferKind::Input && isDevice(target) && !isWritten(target, 0, copy);
}

/// Returns true if a device can write the copy's target in place: the copy runs once, nothing writes its source after
/// it, and no other step uses the result.
bool ImportFinder::canWriteInPlace(uint32_t copy) const {
  const std::vector<uint32_t> &buffers = plan_.steps[copy].buffers;
  uint32_t source = schedule_.storage[buffers[0]], result = buffers[1];
  if (plan_.buffers[result].kind != BufferKind::Output || !isDevice(source) || isWritten(source, copy + 1, copy))
    return false;
  for (uint32_t step = 0; step < access_.size(); ++step)
    for (auto [buffer, access] : access_[step])
      if (step != copy && buffer == result)
        return false;
  for (uint32_t step = 0; step < copy; ++step)
    if (!plan_.steps[step].bodies.empty() && step + countSteps(plan_.steps[step]) > copy)
      return false;
  return true;
}

void ImportFinder::importMemory(uint32_t buffer, uint32_t storage) {
  bool isResult = plan_.buffers[buffer].kind == BufferKind::Output;
  auto candidate = std::find_if(candidates_.begin(), candidates_.end(),
                                [&](const ImportCandidate &other) { return other.buffer == buffer; });
  if (candidate == candidates_.end())
    candidate = candidates_.insert(candidate, {buffer, isResult, {}, {}});
  isImported_[storage] = true;
  std::vector<bool> sharesStorage(plan_.buffers.size());
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    if (schedule_.storage[i] == storage) {
      candidate->buffers.push_back(i);
      sharesStorage[i] = true;
    }
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    bool uses =
        std::any_of(step.buffers.begin(), step.buffers.end(), [&](uint32_t used) { return sharesStorage[used]; });
    bool isKnown = std::find(candidate->launches.begin(), candidate->launches.end(), i) != candidate->launches.end();
    if (step.kind == StepKind::LaunchEngine && uses && !isKnown)
      candidate->launches.push_back(i);
  }
}

std::vector<ImportCandidate> ImportFinder::run() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    if (step.kind != StepKind::Copy || schedule_.elided[i])
      continue;
    if (canReadInPlace(i))
      importMemory(step.buffers[0], schedule_.storage[step.buffers[1]]);
    else if (canWriteInPlace(i))
      importMemory(step.buffers[1], schedule_.storage[step.buffers[0]]);
  }
  return std::move(candidates_);
}

std::vector<ImportCandidate> findImportCandidates(const Plan &plan, const std::vector<StepAccesses> &access,
                                                  const Schedule &schedule) {
  return ImportFinder(plan, access, schedule).run();
}

} // namespace inlay::rt
