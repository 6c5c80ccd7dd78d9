// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that the user permits on accelerators.

#ifndef INLAY_LIB_PARTITION_DECIDE_ALLOW_H
#define INLAY_LIB_PARTITION_DECIDE_ALLOW_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace inlay {

/// Ops by name, for each accelerator (`aten::add`) or for one (`aten::add@npu`). An accelerator with at least one entry
/// runs no other ops. This does not apply to control flow, lists and tuples, which follow the ops that use them.
class AllowList {
public:
  /// Creates a list that permits every op on every target. `option` is the name of the option that adds entries.
  explicit AllowList(llvm::StringRef option = "") : option(option) {}

  void add(llvm::StringRef op, llvm::StringRef target) { entries.push_back({op.str(), target.str()}); }
  bool empty() const { return entries.empty(); }

  /// Returns a supported verdict if the accelerator may run the op.
  Verdict check(llvm::StringRef target, mlir::Operation *op) const;

private:
  struct Entry {
    std::string op, target; ///< Any accelerator if `target` is empty.
  };
  std::string option;
  std::vector<Entry> entries;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_ALLOW_H
