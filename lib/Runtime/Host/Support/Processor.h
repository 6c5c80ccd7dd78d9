// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this processor can run, by the names that LLVM gives its features.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H

#include "inlay/Runtime/Core/Plan.h"

#include <string>
#include <vector>

namespace inlay::rt::host {

struct Processor {
  std::string arch;                  ///< as a triple starts: "x86_64", "aarch64"
  std::vector<std::string> features; ///< sorted: "avx2", "fma"; those alone that the system lets programs use
};

/// That of this process.
const Processor &thisProcessor();

/// All features that can be told, for this kind of processor: code that needs others is not run. Sorted.
std::vector<std::string> knownFeatures();

/// The number of the first object that the processor can run. An error says for what processors there is code.
StatusOr<size_t> chooseObject(const HostCode &code, const Processor &processor);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_PROCESSOR_H
