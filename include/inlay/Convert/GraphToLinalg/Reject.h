// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How patterns say that they refuse an op: a match failure that starts with a reason code. Partitioning asks the
// patterns that convert whether a target can run an op, so these sentences reach its report.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_REJECT_H
#define INLAY_CONVERT_GRAPHTOLINALG_REJECT_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Notifies the listener that the pattern refuses `op`: "unsupported-type: expected floats, but got i1". Failure.
inline mlir::LogicalResult rejectOp(mlir::RewriterBase &rewriter, mlir::Operation *op, ReasonCode code,
                                    const llvm::Twine &text) {
  return rewriter.notifyMatchFailure(op, stringifyReasonCode(code) + ": " + text);
}

/// The verdict that a match failure's message says; one without a code is NoConverter.
inline Verdict parseRefusal(llvm::StringRef message) {
  auto [code, text] = message.split(": ");
  if (std::optional<ReasonCode> known = symbolizeReasonCode(code))
    return {*known, text.str()};
  return {ReasonCode::NoConverter, message.str()};
}

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_REJECT_H
