// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts reason codes to text and back. Partition/Decide chooses the reason of an op.

#include "inlay/Support/Reason.h"

#include "llvm/ADT/STLExtras.h"

using namespace inlay;

static constexpr llvm::StringLiteral kCodes[] = {
    "supported",
    "no-converter",
    "unsupported-type",
    "unsupported-shape",
    "unsupported-attribute",
    "fallback-op",
    "fallback-module",
    "fallback-location",
    "min-block-size",
    "non-tensor",
    "control-flow",
    "object-type",
    "cost",
};

llvm::StringRef inlay::stringifyReasonCode(ReasonCode code) { return kCodes[static_cast<unsigned>(code)]; }

std::optional<ReasonCode> inlay::symbolizeReasonCode(llvm::StringRef code) {
  const auto *it = llvm::find(kCodes, code);
  if (it == std::end(kCodes))
    return std::nullopt;
  return static_cast<ReasonCode>(it - std::begin(kCodes));
}
