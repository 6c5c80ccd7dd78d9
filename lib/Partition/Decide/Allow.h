// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user lets run on accelerators, where not everything that they could run is to.

#ifndef INLAY_LIB_PARTITION_DECIDE_ALLOW_H
#define INLAY_LIB_PARTITION_DECIDE_ALLOW_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace inlay {

/// Ops by name, for each accelerator (`aten::add`) or for one (`aten::add@npu`). An accelerator that some entry is for
/// runs no other ops; control flow, lists and tuples aside, which go where what is in them goes.
class AllowList {
public:
  /// Lets every op run everywhere.
  AllowList() = default;

  void add(llvm::StringRef op, llvm::StringRef target) { entries.push_back({op.str(), target.str()}); }
  bool empty() const { return entries.empty(); }

  /// `Supported` if the accelerator may run the op.
  Verdict check(llvm::StringRef target, mlir::Operation *op) const;

private:
  struct Entry {
    std::string op, target; ///< any accelerator if empty
  };
  std::vector<Entry> entries;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_ALLOW_H
