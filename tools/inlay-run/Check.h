// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_TOOLS_INLAYRUN_CHECK_H
#define INLAY_TOOLS_INLAYRUN_CHECK_H

#include "Arrays.h"

#include "inlay/Runtime/Loader/Loader.h"

namespace inlay::tools {

/// Prints how far the results of each segment on a device are from what the host makes of the same inputs. An error if
/// one is too far (see docs/guide/ship.md), or there is nothing to compare with.
rt::Status checkSegments(rt::LoadedProgram &opened, std::vector<Array> &inputs, std::vector<Array> &outputs);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_CHECK_H
