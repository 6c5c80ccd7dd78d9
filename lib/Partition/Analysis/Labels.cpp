// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives each op of a function a unique label and stores it in the op's location. Dialect/Inlay/IR/OpNames.cpp reads
// names.

#include "inlay/Partition/Labels.h"
#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace inlay;

/// Returns the location with `label` as its name. The metadata of a fused location stays outermost.
static Location nameLocation(Location location, StringRef label) {
  MLIRContext *context = location.getContext();
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return NameLoc::get(StringAttr::get(context, label), location);
  SmallVector<Location> parts = {NameLoc::get(StringAttr::get(context, label))};
  llvm::append_range(parts, fused.getLocations());
  return FusedLoc::get(parts, fused.getMetadata(), context);
}

void inlay::labelOps(FunctionOpInterface function) {
  llvm::DenseMap<StringAttr, bool> isUnique;
  struct LabeledOp {
    Operation *op;
    StringAttr name;
    unsigned position;
  };
  std::vector<LabeledOp> ops;
  unsigned position = 0;
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isConstantLike(op) && !op->hasTrait<OpTrait::IsTerminator>()) {
      StringAttr name = getLocationNameAttr(op->getLoc());
      ops.push_back({op, name, position});
      auto [it, isNew] = isUnique.try_emplace(name, !name.empty());
      it->second &= isNew;
    }
    ++position;
  });
  for (auto [op, name, number] : ops) {
    if (isUnique.lookup(name))
      continue;
    std::string label = (getReportedName(op) + "#" + Twine(number)).str();
    while (isUnique.contains(StringAttr::get(
        op->getContext(), label))) // An earlier run may have given this label to an op at another position.
      label += "#";
    op->setLoc(nameLocation(op->getLoc(), label));
  }
}
