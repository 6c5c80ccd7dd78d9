// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// At exit: refuses new calls of the driver, ends work in progress, waits for the threads inside the driver, and then
// for the devices.

#include "ProcessExit.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <link.h>
#include <mutex>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace inlay::rt::vulkan {

namespace {

/// Time for which the exit waits for threads inside the driver and for commands.
constexpr std::chrono::seconds kExitLimit{10};
/// Limits how often the handler is registered while no library is loaded. Handlers that drivers and layers add later
/// run before the steps. Each of them adds its handlers early.
constexpr int kMaxRegistrations = 64;

/// The state has neither a constructor nor a destructor. A thread that runs the constructor during fork would leave the
/// guard of the object locked in the child, and threads may use the state until the process has ended.
struct ExitState {
  std::atomic<pid_t> process{0}; ///< That first registered a handler or added a step; 0 before.
  std::atomic<int> uses{0};
  std::atomic<bool> exits{false};
  std::atomic<bool> isDrained{false}; ///< Devices have ended their work, or exceeded the time limit.
  std::mutex registering;
  int registrations = 0;           ///< That succeeded since the last library was loaded; guarded by `registering`.
  unsigned long long loadings = 0; ///< Number of libraries loaded before the last registration; guarded likewise.
  std::mutex mutex;
  std::vector<ExitStep> *steps = nullptr; ///< Guarded by `mutex`; never destroyed.

  /// Returns true in the process that called this function first. The locks may stay locked forever in a child of
  /// fork.
  bool isOfThisProcess() {
    pid_t owner = 0, self = getpid();
    return process.compare_exchange_strong(owner, self) || owner == self;
  }
  void runSteps(ExitStep::Phase phase, ExitStep::Deadline deadline);
};
static_assert(std::is_trivially_destructible_v<ExitState>);

ExitState state;

/// Number of uses of this thread.
thread_local int usesOfThread = 0;
thread_local bool isExitingThread = false;

} // namespace

void ExitState::runSteps(ExitStep::Phase phase, ExitStep::Deadline deadline) {
  // An object that is destroyed meanwhile waits in `removeExitStep`.
  std::lock_guard<std::mutex> lock(mutex);
  if (!steps)
    return;
  for (const ExitStep &step : *steps)
    if (step.phase == phase)
      step.run(step.object, deadline);
}

static void exitOnce() {
  if (!state.isOfThisProcess() || state.exits.exchange(true)) // the threads don't exist in a child of fork
    return;
  isExitingThread = true;
  ExitStep::Deadline deadline = std::chrono::steady_clock::now() + kExitLimit;
  state.runSteps(ExitStep::Phase::Cancel, deadline);
  while (state.uses > usesOfThread && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  state.runSteps(ExitStep::Phase::Drain, deadline);
  state.isDrained = true;
}

DriverUse::DriverUse() {
  ++state.uses;
  ++usesOfThread;
  isAllowed_ = !state.exits; // read after the use is visible, as exitOnce() does both in reverse order
}

DriverUse::~DriverUse() {
  --usesOfThread;
  --state.uses;
}

bool isExiting() { return state.exits; }

Status processExits() { return {StatusCode::Stopped, "the process is exiting"}; }

void waitForDrain() {
  while (state.exits && !state.isDrained && !isExitingThread && state.isOfThisProcess())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void addExitStep(const ExitStep &step) {
  if (!state.isOfThisProcess()) // steps don't run in a child of fork
    return;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.steps)
    state.steps = new std::vector<ExitStep>();
  state.steps->push_back(step);
}

void removeExitStep(const ExitStep &step) {
  if (!state.isOfThisProcess())
    return;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.steps)
    return;
  auto isSame = [&](const ExitStep &other) { return other.run == step.run && other.object == step.object; };
  std::vector<ExitStep> &steps = *state.steps;
  steps.erase(std::remove_if(steps.begin(), steps.end(), isSame), steps.end());
}

/// Returns how many libraries the process has loaded so far.
static unsigned long long countLoadings() {
  unsigned long long count = 0;
  auto read = [](dl_phdr_info *info, size_t, void *result) {
    *static_cast<unsigned long long *>(result) = info->dlpi_adds;
    return 1; // the number is the same for all libraries
  };
  dl_iterate_phdr(read, &count);
  return count;
}

void precedeExitHandlers() {
  if (!state.isOfThisProcess()) // the handler does nothing in a child of fork
    return;
  unsigned long long loadings = countLoadings();
  std::lock_guard<std::mutex> lock(state.registering);
  if (std::exchange(state.loadings, loadings) != loadings)
    state.registrations = 0;
  if (state.registrations < kMaxRegistrations && std::atexit(exitOnce) == 0)
    ++state.registrations;
}

} // namespace inlay::rt::vulkan
