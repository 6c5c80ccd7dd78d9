// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saves a compiled program with its report. Runtime/Container/Write.cpp writes the bytes.

#include "inlay/Execution/SavedProgram.h"

using namespace inlay;

rt::Status inlay::saveProgram(const std::string &path, const CompiledProgram &compiled, const std::string &metadata,
                              const rt::ContainerWriteOptions &options) {
  return rt::writeContainer(path, *compiled.plan, {compiled.report, metadata}, options);
}
