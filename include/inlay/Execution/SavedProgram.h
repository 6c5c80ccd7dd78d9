// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CompiledProgram programs in files (docs/container.md): saved by whoever compiled, loaded without compiling.

#ifndef INLAY_EXECUTION_SAVEDPROGRAM_H
#define INLAY_EXECUTION_SAVEDPROGRAM_H

#include "inlay/Execution/Compile.h"
#include "inlay/Execution/Load.h"
#include "inlay/Runtime/Container/Container.h"

#include <functional>

namespace inlay {

/// Writes a compiled program, with its report, to a container. `metadata` is the caller's JSON; may be empty.
rt::Status saveProgram(const std::string &path, const CompiledProgram &compiled, const std::string &metadata = "",
                       const rt::ContainerWriteOptions &options = {});

struct LoadSavedOptions {
  LoadOptions load;
  rt::ContainerReadOptions read;
  /// Asked about a plan before a device is opened or code is linked for it; a failure ends the loading. May be empty.
  std::function<rt::Status(const rt::Plan &plan)> admit;
};

/// Reads a container and loads its program. `metadata`, if given, gets what was saved with it.
rt::StatusOr<CompiledProgram> loadSaved(const std::string &path, const LoadSavedOptions &options = {},
                                        std::string *metadata = nullptr);

} // namespace inlay

#endif // INLAY_EXECUTION_SAVEDPROGRAM_H
