// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The protocol by which patterns refuse an op: a match failure whose message starts with a reason code. Partitioning
// asks the same patterns whether a target can run an op, so the messages appear in the partition report.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_REFUSE_H
#define INLAY_CONVERT_GRAPHTOLINALG_REFUSE_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Notifies the listener that the pattern refuses `op`, for example with "unsupported-type: expected floats, but got
/// i1". Always returns failure.
inline mlir::LogicalResult refuseOp(mlir::RewriterBase &rewriter, mlir::Operation *op, ReasonCode code,
                                    const llvm::Twine &text) {
  return rewriter.notifyMatchFailure(op, stringifyReasonCode(code) + ": " + text);
}

/// Returns the verdict that the message of a match failure states. A message without a reason code means NoConverter.
inline Verdict parseRefusal(llvm::StringRef message) {
  auto [code, text] = message.split(": ");
  if (std::optional<ReasonCode> known = symbolizeReasonCode(code))
    return {*known, text.str()};
  return {ReasonCode::NoConverter, message.str()};
}

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_REFUSE_H
