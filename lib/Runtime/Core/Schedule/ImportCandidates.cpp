// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds, at load time, the copies that importing the caller's memory would save. Execute/Bindings.cpp imports the
// memory at a call.

#include "ImportCandidates.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>
#include <unordered_map>

namespace inlay::rt {

namespace {

class ImportFinder {
public:
  ImportFinder(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule)
      : plan_(plan), access_(access), schedule_(schedule), isImported_(plan.buffers.size()) {}
  std::vector<ImportCandidate> run();

private:
  /// The buffers that share a storage and the steps that use it.
  struct Storage {
    std::vector<uint32_t> buffers;
    std::vector<uint32_t> launches;
    uint32_t writes = 0;    ///< Number of writes, without elided copies.
    uint32_t lastWrite = 0; ///< The last step with such a write.
  };

  bool isDevice(uint32_t storage) const;
  void findUses();
  bool canReadInPlace(uint32_t copy) const;
  bool canWriteInPlace(uint32_t copy) const;
  void importMemory(uint32_t buffer, uint32_t storage);

  const Plan &plan_;
  const std::vector<StepAccesses> &access_;
  const Schedule &schedule_;
  std::vector<bool> isImported_;                 ///< Per storage.
  std::vector<uint32_t> uses_;                   ///< Per buffer: number of its uses by steps.
  std::vector<Storage> storages_;                ///< Per storage.
  std::vector<bool> isInBody_;                   ///< Per step: true if it may run several times or not at all.
  std::unordered_map<uint32_t, size_t> numbers_; ///< Numbers of candidates by buffer.
  std::vector<ImportCandidate> candidates_;
};

} // namespace

bool ImportFinder::isDevice(uint32_t storage) const {
  return plan_.buffers[storage].kind == BufferKind::Temporary && schedule_.onDevice[storage] && !isImported_[storage];
}

void ImportFinder::findUses() {
  uses_.resize(plan_.buffers.size());
  storages_.resize(plan_.buffers.size());
  for (uint32_t buffer = 0; buffer < plan_.buffers.size(); ++buffer)
    storages_[schedule_.storage[buffer]].buffers.push_back(buffer);
  size_t bodiesEnd = 0; // end of the bodies that have begun
  for (uint32_t step = 0; step < plan_.steps.size(); ++step) {
    isInBody_.push_back(step < bodiesEnd);
    bodiesEnd = std::max(bodiesEnd, step + countSteps(plan_.steps[step]));
    for (auto [buffer, access] : access_[step]) {
      Storage &storage = storages_[schedule_.storage[buffer]];
      ++uses_[buffer];
      if (writes(access) && !schedule_.elided[step]) { // an elided copy stays within its storage
        ++storage.writes;
        storage.lastWrite = step;
      }
      bool isLaunch = plan_.steps[step].kind == StepKind::LaunchEngine;
      if (isLaunch && (storage.launches.empty() || storage.launches.back() != step))
        storage.launches.push_back(step);
    }
  }
}

/// Returns true if a device can read the copy's source in place: the copy alone writes its target.
bool ImportFinder::canReadInPlace(uint32_t copy) const {
  const std::vector<uint32_t> &buffers = plan_.steps[copy].buffers;
  uint32_t target = schedule_.storage[buffers[1]];
  return plan_.buffers[buffers[0]].kind == BufferKind::Input && isDevice(target) && storages_[target].writes == 1;
}

/// Returns true if a device can write the copy's target in place: the copy runs once, nothing writes its source after
/// it, and no other step uses the result.
bool ImportFinder::canWriteInPlace(uint32_t copy) const {
  const std::vector<uint32_t> &buffers = plan_.steps[copy].buffers;
  uint32_t source = schedule_.storage[buffers[0]], result = buffers[1];
  const Storage &storage = storages_[source];
  bool isWrittenLater = storage.writes != 0 && storage.lastWrite > copy;
  return plan_.buffers[result].kind == BufferKind::Output && isDevice(source) && !isWrittenLater &&
         uses_[result] == 1 && !isInBody_[copy];
}

void ImportFinder::importMemory(uint32_t buffer, uint32_t storage) {
  bool isResult = plan_.buffers[buffer].kind == BufferKind::Output;
  auto [number, isNew] = numbers_.try_emplace(buffer, candidates_.size());
  if (isNew)
    candidates_.push_back({buffer, isResult, {}, {}});
  ImportCandidate &candidate = candidates_[number->second];
  isImported_[storage] = true;
  const Storage &shared = storages_[storage];
  candidate.buffers.insert(candidate.buffers.end(), shared.buffers.begin(), shared.buffers.end());
  candidate.launches.insert(candidate.launches.end(), shared.launches.begin(), shared.launches.end());
}

std::vector<ImportCandidate> ImportFinder::run() {
  findUses();
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    if (step.kind != StepKind::Copy || schedule_.elided[i])
      continue;
    if (canReadInPlace(i))
      importMemory(step.buffers[0], schedule_.storage[step.buffers[1]]);
    else if (canWriteInPlace(i))
      importMemory(step.buffers[1], schedule_.storage[step.buffers[0]]);
  }
  for (ImportCandidate &candidate : candidates_) {
    std::vector<uint32_t> &launches = candidate.launches;
    std::sort(launches.begin(), launches.end());
    launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  }
  return std::move(candidates_);
}

std::vector<ImportCandidate> findImportCandidates(const Plan &plan, const std::vector<StepAccesses> &access,
                                                  const Schedule &schedule) {
  return ImportFinder(plan, access, schedule).run();
}

} // namespace inlay::rt
