// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled program adds to the partition report: the kernels that its segments became, and its memory.

#ifndef INLAY_RUNTIME_REPORT_REPORTKEYS_H
#define INLAY_RUNTIME_REPORT_REPORTKEYS_H

#include "inlay/Runtime/Core/MemoryUse.h"
#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Core/Status.h"

#include <string>

namespace inlay::rt {

/// The report with `kernels` in each segment that the host or an engine runs, by their numbers in the plan: `kind`
/// (that of a host function's kernel, or "dispatch"), `ops` (the user's calls or ops that went into it), `post_ops` and
/// `bias` of library kernels that have any. A report on several functions stays as it is.
std::string addKernels(const std::string &report, const Plan &plan);

/// For people: a line for each segment with `kernels`, below a headline; nothing without any.
std::string formatKernels(const std::string &report);

/// The page that a report is in HTML, with a table of its kernels at the end.
std::string insertKernels(const std::string &page, const std::string &report);

/// As a JSON object, in bytes: `peak` and `unshared` of each part and of the `total`, which has the `ratio` of these
/// too, and what constants take.
std::string describeMemory(const MemoryUse &use);

/// The report with that as `memory` in its summary; an error if it isn't one.
StatusOr<std::string> addMemory(const std::string &report, const MemoryUse &use);

/// "2.0 KiB".
std::string formatBytes(uint64_t bytes);

/// For people: a row for each part that isn't empty.
std::string formatMemory(const MemoryUse &use);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_REPORTKEYS_H
