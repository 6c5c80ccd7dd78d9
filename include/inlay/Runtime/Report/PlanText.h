// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text for users that describes a plan or a container.

#ifndef INLAY_RUNTIME_REPORT_PLANTEXT_H
#define INLAY_RUNTIME_REPORT_PLANTEXT_H

#include "inlay/Runtime/Container/Container.h"

#include <string>

namespace inlay::rt {

/// Returns the inputs, results, steps, buffers, engines, host code and constants with their sizes.
std::string describePlan(const Plan &plan);

/// Returns the version, the requirements, the segments of the report and the sections.
std::string describeContainer(const ContainerInfo &info);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_PLANTEXT_H
