// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the inputs and results that a device may use in place.

#ifndef INLAY_LIB_RUNTIME_CORE_SCHEDULE_IMPORTCANDIDATES_H
#define INLAY_LIB_RUNTIME_CORE_SCHEDULE_IMPORTCANDIDATES_H

#include "Submissions.h"

namespace inlay::rt {

/// Returns the candidates for a schedule whose elided copies, storage and memory of each buffer are known.
std::vector<ImportCandidate> findImportCandidates(const Plan &plan, const std::vector<StepAccesses> &access,
                                                  const Schedule &schedule);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_SCHEDULE_IMPORTCANDIDATES_H
