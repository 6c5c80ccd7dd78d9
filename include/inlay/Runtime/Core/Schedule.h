// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedule: decisions about a program that are made once at load time. It says which copies are elided because both
// sides share bytes, which launches form one submission and when it is waited for, and when each temporary is live.

#ifndef INLAY_RUNTIME_CORE_SCHEDULE_H
#define INLAY_RUNTIME_CORE_SCHEDULE_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// Steps that run together: several launches in one submission, or one step of another kind. A submission runs until an
/// action waits for it.
struct Action {
  StepKind kind = StepKind::Copy;
  std::vector<uint32_t> steps;
  std::vector<std::vector<Action>> bodies = {}; ///< Bodies of a step that has any.
  bool isWait = false; ///< True if the action waits for these launches, which are the oldest submissions in flight.
};

/// The live range of a temporary as positions in execution order, both inclusive; empty if first > last. A temporary
/// that is used only inside a loop is live in one iteration; one that is also used outside is live during the whole
/// loop.
struct Lifetime {
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
};

/// An input or result of a call whose memory may replace that of temporaries, so that no copy is needed. If it is an
/// input, no step changes its bytes in any of `buffers`. If it is a result, no buffer outside `buffers` holds its
/// bytes.
struct ImportCandidate {
  uint32_t buffer; ///< Number of the input's or result's buffer.
  bool isResult;
  std::vector<uint32_t> buffers;  ///< Buffers in device memory that use its bytes.
  std::vector<uint32_t> launches; ///< Steps that use these buffers.
};

struct Schedule {
  std::vector<Action> actions;
  std::vector<bool> elided;        ///< Per step: true if it is a copy whose two buffers share storage.
  std::vector<uint32_t> storage;   ///< Per buffer: number of the buffer whose bytes it uses, which may be itself.
  std::vector<bool> onDevice;      ///< Per storage: true if any buffer that shares it is in device memory.
  std::vector<Lifetime> lifetimes; ///< Per storage; set only for temporaries.
  std::vector<bool> writesState;   ///< Per step: true if it may write a state.
  std::vector<std::vector<uint32_t>> stateLaunches; ///< Per state: the launches that use it.
  /// Candidates for zero-copy import. A call may use any subset. No two share a temporary.
  std::vector<ImportCandidate> importCandidates;
};

/// Computes the schedule of a checked plan. With `unifiedMemory` a host and a device temporary may share bytes.
Schedule makeSchedule(const Plan &plan, bool unifiedMemory);

/// Packs temporaries of one memory into few slots. Temporaries in the same slot are never live at the same time.
/// `sizes[i]` belongs to `lifetimes[i]`. Returns the slot of each and sets `slotSizes` to the bytes of each slot.
std::vector<uint32_t> assignSlots(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &sizes,
                                  std::vector<size_t> &slotSizes);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_SCHEDULE_H
