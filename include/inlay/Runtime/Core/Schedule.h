// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedule: what a program does at each call, decided once at load: which copies vanish because both sides share bytes,
// which launches go to the device together and when they are waited for, and between which points each temporary is
// alive.

#ifndef INLAY_RUNTIME_CORE_SCHEDULE_H
#define INLAY_RUNTIME_CORE_SCHEDULE_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// Steps that run together: several launches in one submission, which goes on until it is waited for, or one step of
/// another kind.
struct Action {
  StepKind kind = StepKind::Copy;
  std::vector<uint32_t> steps;
  std::vector<std::vector<Action>> bodies = {}; ///< of a step that has any
  bool isWait = false; ///< of launches: waits until these have run, the oldest submissions that are in flight
};

/// Where a temporary holds what is needed, as positions in the order of execution, both inclusive; empty when
/// first > last. In a loop that is one run of its body, or all of the loop for what is used outside of it too.
struct Lifetime {
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
};

/// An input or result of a call whose memory may stand in for that of temporaries, so that nothing is copied between
/// them: what is read from the one is never changed in the others, and what is written to it is theirs alone.
struct ImportCandidate {
  uint32_t buffer; ///< the input or result
  bool isResult;
  std::vector<uint32_t> buffers;  ///< that use its bytes, in device memory
  std::vector<uint32_t> launches; ///< steps that use these
};

struct Schedule {
  std::vector<Action> actions;
  std::vector<bool> elided;      ///< per step: a copy whose two buffers share storage
  std::vector<uint32_t> storage; ///< per buffer: the number of the buffer whose bytes it uses (itself if its own)
  std::vector<bool> onDevice;    ///< per buffer that is its own storage: some buffer that shares it is in device memory
  std::vector<Lifetime> lifetimes; ///< per buffer that is its own storage; only temporaries are filled in
  std::vector<ImportCandidate>
      importCandidates; ///< that a call may take, each by itself; no two are of the same temporaries
};

/// Decides for a checked plan. With `unifiedMemory` a host and a device temporary may share bytes.
Schedule makeSchedule(const Plan &plan, bool unifiedMemory);

/// Packs temporaries of one memory into few slots: those in one slot are never alive at once. `sizes[i]` belongs to
/// `lifetimes[i]`; the result gives each its slot, and `slotSizes` the bytes each slot needs.
std::vector<uint32_t> assignSlots(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &sizes,
                                  std::vector<size_t> &slotSizes);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_SCHEDULE_H
