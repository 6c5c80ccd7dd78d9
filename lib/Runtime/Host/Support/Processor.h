// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processor: the features of this processor, with LLVM's names.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H

#include "inlay/Runtime/Core/Plan.h"

#include <string>
#include <vector>

namespace inlay::rt::host {

struct Processor {
  std::string arch;                  ///< The first part of a triple: "x86_64", "aarch64".
  std::vector<std::string> features; ///< Sorted: "avx2", "fma". Only features that the system lets programs use.
};

/// Returns the processor that this process runs on.
const Processor &thisProcessor();

/// Returns all features that can be detected on this kind of processor, sorted. Code that needs other features isn't
/// run.
std::vector<std::string> knownFeatures();

/// Returns the index of the first object that the processor can run. The error lists the processors that have code.
StatusOr<size_t> chooseObject(const HostCode &code, const Processor &processor);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H
