// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys that a compiled program adds to the partition report: the kernels of its segments and its memory.

#ifndef INLAY_RUNTIME_REPORT_REPORTKEYS_H
#define INLAY_RUNTIME_REPORT_REPORTKEYS_H

#include "inlay/Runtime/Core/MemoryUse.h"
#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Core/Status.h"

#include <string>

namespace inlay::rt {

/// Returns the report with `kernels` in each segment that the host or an engine runs, by their numbers in the plan:
/// `kind` (that of a host function's kernel, or "dispatch"), `ops` (the user's calls or ops in it), and `post_ops` and
/// `bias` of library kernels that have any. A report on several functions is returned unchanged.
std::string addKernels(const std::string &report, const Plan &plan);

/// Returns text for users: a headline and a line for each segment with `kernels`; empty if there are none.
std::string formatKernels(const std::string &report);

/// Returns `page`, the report in HTML, with a table of its kernels at the end.
std::string insertKernels(const std::string &page, const std::string &report);

/// Returns a JSON object, in bytes: `peak` and `unshared` of each part and of the `total`, the `ratio` of the two in
/// the total, and the bytes of constants.
std::string describeMemory(const MemoryUse &use);

/// Returns the report with that object as `memory` in its summary, or an error if `report` is not a report.
StatusOr<std::string> addMemory(const std::string &report, const MemoryUse &use);

/// Returns a size as text: "2.0 KiB". Units change at 1 KiB, 1 MiB and 1 GiB, as in Python's `format_bytes`, but not as
/// in partition reports (lib/Partition/Report/ReportFigures.cpp).
std::string formatBytes(uint64_t bytes);

/// Returns text for users with a row for each part that is not empty.
std::string formatMemory(const MemoryUse &use);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_REPORTKEYS_H
