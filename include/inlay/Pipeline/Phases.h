// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases in order. A graph enters at Import and leaves at Stitch.

#ifndef INLAY_PIPELINE_PHASES_H
#define INLAY_PIPELINE_PHASES_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace inlay {

enum class Phase {
  Import,    ///< text, torch.export or ONNX becomes an inlay graph
  Rewrite,   ///< graph to graph by patterns
  Partition, ///< graph to segments per target
  Shape,     ///< shapes and dtypes known at every border
  Convert,   ///< each segment to its target's engine
  Stitch,    ///< engines and order to a plan
};

/// The phase's name in options: "partition".
llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);

} // namespace inlay

#endif // INLAY_PIPELINE_PHASES_H
