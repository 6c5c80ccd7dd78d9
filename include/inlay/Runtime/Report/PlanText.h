// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan, or a file of one, consists of: for people.

#ifndef INLAY_RUNTIME_REPORT_PLANTEXT_H
#define INLAY_RUNTIME_REPORT_PLANTEXT_H

#include "inlay/Runtime/Container/Container.h"

#include <string>

namespace inlay::rt {

/// Inputs, results, steps, buffers, engines, host code and constants, with their sizes.
std::string describePlan(const Plan &plan);

/// The version, what it requires, the segments of its report and its sections.
std::string describeContainer(const ContainerInfo &info);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_PLANTEXT_H
