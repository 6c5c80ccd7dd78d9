// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loans.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>

namespace inlay::rt {

namespace {

class LoanFinder {
public:
  LoanFinder(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule)
      : plan_(plan), access_(access), schedule_(schedule), isLent_(plan.buffers.size()) {}
  std::vector<Loan> run();

private:
  bool isDevice(uint32_t storage) const;
  bool isWritten(uint32_t storage, uint32_t first, uint32_t besides) const;
  bool canReadInPlace(uint32_t copy) const;
  bool canWriteInPlace(uint32_t copy) const;
  void lend(uint32_t buffer, uint32_t storage);

  const Plan &plan_;
  const std::vector<StepAccesses> &access_;
  const Schedule &schedule_;
  std::vector<bool> isLent_; ///< per storage
  std::vector<Loan> loans_;
};

} // namespace

bool LoanFinder::isDevice(uint32_t storage) const {
  return plan_.buffers[storage].kind == BufferKind::Temporary && schedule_.onDevice[storage] && !isLent_[storage];
}

/// By a step from `first` on other than `besides`. Copies that vanish stay within their storage.
bool LoanFinder::isWritten(uint32_t storage, uint32_t first, uint32_t besides) const {
  for (uint32_t step = first; step < access_.size(); ++step)
    for (auto [buffer, access] : access_[step])
      if (step != besides && !schedule_.elided[step] && schedule_.storage[buffer] == storage && writes(access))
        return true;
  return false;
}

/// The copy is all that writes its target.
bool LoanFinder::canReadInPlace(uint32_t copy) const {
  const std::vector<uint32_t> &buffers = plan_.steps[copy].buffers;
  uint32_t target = schedule_.storage[buffers[1]];
  return plan_.buffers[buffers[0]].kind == BufferKind::Input && isDevice(target) && !isWritten(target, 0, copy);
}

/// The copy runs once, nothing writes its source after it, and nothing else has to do with the result.
bool LoanFinder::canWriteInPlace(uint32_t copy) const {
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

void LoanFinder::lend(uint32_t buffer, uint32_t storage) {
  bool isResult = plan_.buffers[buffer].kind == BufferKind::Output;
  auto loan = std::find_if(loans_.begin(), loans_.end(), [&](const Loan &other) { return other.buffer == buffer; });
  if (loan == loans_.end())
    loan = loans_.insert(loan, {buffer, isResult, {}, {}});
  isLent_[storage] = true;
  std::vector<bool> isOfIt(plan_.buffers.size());
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    if (schedule_.storage[i] == storage) {
      loan->buffers.push_back(i);
      isOfIt[i] = true;
    }
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    bool uses = std::any_of(step.buffers.begin(), step.buffers.end(), [&](uint32_t used) { return isOfIt[used]; });
    bool isKnown = std::find(loan->launches.begin(), loan->launches.end(), i) != loan->launches.end();
    if (step.kind == StepKind::LaunchEngine && uses && !isKnown)
      loan->launches.push_back(i);
  }
}

std::vector<Loan> LoanFinder::run() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    if (step.kind != StepKind::Copy || schedule_.elided[i])
      continue;
    if (canReadInPlace(i))
      lend(step.buffers[0], schedule_.storage[step.buffers[1]]);
    else if (canWriteInPlace(i))
      lend(step.buffers[1], schedule_.storage[step.buffers[0]]);
  }
  return std::move(loans_);
}

std::vector<Loan> findLoans(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule) {
  return LoanFinder(plan, access, schedule).run();
}

} // namespace inlay::rt
