// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks an op against the list of the option `allow-ops`. Fallback.cpp checks the options that forbid.

#include "Allow.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

using namespace mlir;
using namespace inlay;

Verdict AllowList::check(StringRef target, Operation *op) const {
  if (isControlFlow(op) || isCheapToClone(op))
    return Verdict::supported();
  bool restricted = false;
  for (const Entry &entry : entries) {
    if (!entry.target.empty() && entry.target != target)
      continue;
    if (matchesName(op, entry.op))
      return Verdict::supported();
    restricted = true;
  }
  if (!restricted)
    return Verdict::supported();
  return {ReasonCode::FallbackOp,
          (getReportedName(op) + " is not among the ops that " + option + " lets run on '" + target + "'").str()};
}
