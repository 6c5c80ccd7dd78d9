// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why an op runs where it runs: reason codes of the partition report, and a target's verdict on an op.

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

/// The code as reports spell it: "no-converter".
llvm::StringRef stringifyReasonCode(ReasonCode code);
std::optional<ReasonCode> symbolizeReasonCode(llvm::StringRef code);

/// A target's answer: Supported, or a code and a sentence that say why not.
struct Verdict {
  ReasonCode code = ReasonCode::Supported;
  std::string text;

  static Verdict supported() { return {}; }
  bool isSupported() const { return code == ReasonCode::Supported; }
};

} // namespace inlay

#endif // INLAY_SUPPORT_REASON_H
