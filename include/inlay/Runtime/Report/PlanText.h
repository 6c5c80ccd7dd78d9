// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text for users that describes a plan or a container.

#ifndef INLAY_RUNTIME_REPORT_PLANTEXT_H
#define INLAY_RUNTIME_REPORT_PLANTEXT_H

#include "inlay/Runtime/Container/Container.h"

#include <string>

namespace inlay::rt {

/// Returns the inputs, results, steps, buffers, engines, host code and constants with their sizes. Fails if the plan
/// does not pass `checkPlan`. Names are escaped and shortened for a terminal.
StatusOr<std::string> describePlan(const Plan &plan);

/// Returns the version, the requirements, the segments of the report, the metadata and the sections. Text from the file
/// is escaped for a terminal.
std::string describeContainer(const ContainerInfo &info);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_PLANTEXT_H
