// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The option `--check` of inlay-run: compares segments on a device with their host versions and prints the differences.

#ifndef INLAY_TOOLS_INLAYRUN_CHECK_H
#define INLAY_TOOLS_INLAYRUN_CHECK_H

#include "Arrays.h"

#include "inlay/Runtime/Loader/Loader.h"

namespace inlay::tools {

/// Prints the difference between the results of each segment on a device and those of its host version for the same
/// inputs. Fails if a difference is too large (see docs/guide/ship.md) or a segment has no host version.
rt::Status checkSegments(rt::LoadedProgram &opened, std::vector<Array> &inputs, std::vector<Array> &outputs);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_CHECK_H
