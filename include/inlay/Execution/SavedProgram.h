// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saves compiled programs to containers (docs/container.md). `rt::openProgram` loads them.

#ifndef INLAY_EXECUTION_SAVEDPROGRAM_H
#define INLAY_EXECUTION_SAVEDPROGRAM_H

#include "inlay/Execution/Compile.h"
#include "inlay/Runtime/Container/Container.h"

namespace inlay {

/// Writes a compiled program and its report to a container. `metadata` is JSON of the caller; may be empty.
rt::Status saveProgram(const std::string &path, const CompiledProgram &compiled, const std::string &metadata = "",
                       const rt::ContainerWriteOptions &options = {});

} // namespace inlay

#endif // INLAY_EXECUTION_SAVEDPROGRAM_H
