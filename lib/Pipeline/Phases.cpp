// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts phases to their names and back. Pipeline.cpp builds and runs them.

#include "inlay/Pipeline/Phases.h"

#include "llvm/ADT/STLExtras.h"

using namespace inlay;

static constexpr llvm::StringLiteral kPhases[] = {"import", "rewrite", "partition", "shape", "convert", "stitch"};

llvm::StringRef inlay::stringifyPhase(Phase phase) { return kPhases[static_cast<unsigned>(phase)]; }

std::optional<Phase> inlay::symbolizePhase(llvm::StringRef name) {
  const auto *it = llvm::find(kPhases, name);
  if (it == std::end(kPhases))
    return std::nullopt;
  return static_cast<Phase>(it - std::begin(kPhases));
}
