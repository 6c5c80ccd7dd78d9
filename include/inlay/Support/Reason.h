// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reason codes of the partition report, and a target's verdict on an op.

#ifndef INLAY_SUPPORT_REASON_H
#define INLAY_SUPPORT_REASON_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace inlay {

/// Reason codes, in the order of the report's contract.
enum class ReasonCode {
  Supported,
  NoConverter,
  UnsupportedType,
  UnsupportedShape,
  UnsupportedAttribute,
  FallbackOp,
  FallbackModule,
  FallbackLocation,
  MinBlockSize,
  NonTensor,
  ControlFlow,
  ObjectType,
  Cost,
};

/// Returns the spelling of the code in reports: "no-converter".
llvm::StringRef stringifyReasonCode(ReasonCode code);
std::optional<ReasonCode> symbolizeReasonCode(llvm::StringRef code);

/// The verdict of a target on an op: Supported, or a code and a sentence that explain why the op is not supported.
struct Verdict {
  ReasonCode code = ReasonCode::Supported;
  std::string text;

  static Verdict supported() { return {}; }
  bool isSupported() const { return code == ReasonCode::Supported; }
};

} // namespace inlay

#endif // INLAY_SUPPORT_REASON_H
