// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the bytes of the weights of a function by type.

#include "ReportWeights.h"
#include "Partition/Analysis/OpKinds.h"
#include "ReportNames.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

using WeightTypes = llvm::MapVector<Attribute, std::string>;

/// Sets the type of the weights that `codes` has its codes from, except through values that were `seen` before. Ops on
/// bytes, such as a gather of rows, are between.
static void nameCodes(Value codes, StringRef type, WeightTypes &weights, llvm::DenseSet<Value> &seen) {
  SmallVector<Value> pending{codes};
  while (!pending.empty()) {
    Value value = lookThroughSegments(pending.pop_back_val());
    Operation *op = value.getDefiningOp();
    if (!getElementTypeOrSelf(value).isInteger(8) || !seen.insert(value).second || !op)
      continue;
    auto constant = dyn_cast<ConstantOp>(op);
    auto weight = constant ? weights.find(constant.getValue()) : weights.end();
    if (weight != weights.end())
      weight->second = type;
    llvm::append_range(pending, op->getOperands());
  }
}

std::map<std::string, int64_t> inlay::countWeights(FunctionOpInterface function) {
  WeightTypes weights;
  function->walk([&](ConstantOp constant) {
    auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (value && weights.try_emplace(value).second)
      llvm::raw_string_ostream(weights[value]) << value.getElementType();
  });
  SmallVector<DequantizeOp> dequantizations;
  function->walk([&](DequantizeOp op) { dequantizations.push_back(op); });
  llvm::DenseSet<Value> seen;
  for (DequantizeOp op : llvm::reverse(dequantizations)) // The last use of a weight names its type.
    nameCodes(op.getCodes(), op.getCode(), weights, seen);
  std::map<std::string, int64_t> bytes;
  for (const auto &[value, type] : weights) {
    int64_t &sum = bytes[type];
    if (llvm::AddOverflow(sum, countBytes(cast<ElementsAttr>(value).getShapedType()).value_or(0), sum))
      sum = std::numeric_limits<int64_t>::max();
  }
  return bytes;
}
