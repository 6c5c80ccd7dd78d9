// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases in order. A graph enters at Import and leaves at Stitch.

#ifndef INLAY_PIPELINE_PHASES_H
#define INLAY_PIPELINE_PHASES_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace inlay {

enum class Phase {
  Import,    ///< Checks the graph that an importer made from text, torch.export or ONNX.
  Rewrite,   ///< Runs CSE and shape inference. Patterns of users run before, through RewritePass or a manager.
  Partition, ///< Splits the graph into segments, one target each.
  Shape,     ///< Infers shapes and element types and checks that they are known at every border.
  Convert,   ///< Converts each segment to the engine of its target.
  Stitch,    ///< Combines the engines into a plan with a fixed order.
};

/// Returns the name of the phase in options: "partition".
llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);

} // namespace inlay

#endif // INLAY_PIPELINE_PHASES_H
