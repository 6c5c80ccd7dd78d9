// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which inputs and results a device may work on in place.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_IMPORTCANDIDATES_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_IMPORTCANDIDATES_H

#include "Submissions.h"

namespace inlay::rt {

/// For a schedule with its elided copies, storage and memory of each buffer.
std::vector<ImportCandidate> findImportCandidates(const Plan &plan, const std::vector<StepAccesses> &access,
                                                  const Schedule &schedule);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_IMPORTCANDIDATES_H
