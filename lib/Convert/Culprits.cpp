// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Group testing: a part of the segment that converts is cleared as a whole, one that doesn't is halved.

#include "inlay/Convert/Culprits.h"
#include "inlay/Convert/Bufferize.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace inlay;

static bool isConstant(Value value) {
  Operation *definer = value.getDefiningOp();
  return definer && definer->hasTrait<OpTrait::ConstantLike>();
}

namespace {
class Search {
public:
  Search(func::FuncOp segment, TargetAttrInterface target, ModuleOp module)
      : segment(segment), target(target), module(module) {}

  void find(ArrayRef<Operation *> part) {
    std::optional<std::string> error = convert(part);
    if (!error)
      return;
    if (part.size() == 1) {
      culprits.push_back({part.front(), *error});
      return;
    }
    size_t known = culprits.size(), half = part.size() / 2;
    find(part.take_front(half));
    find(part.drop_front(half));
    if (culprits.size() == known)
      findLastOfPrefix(part, half);
  }

  SmallVector<Culprit> culprits;

private:
  /// The first `converts` ops of the part convert, all of it doesn't.
  void findLastOfPrefix(ArrayRef<Operation *> part, size_t converts) {
    size_t fails = part.size();
    while (fails - converts > 1) {
      size_t middle = converts + (fails - converts) / 2;
      (convert(part.take_front(middle)) ? fails : converts) = middle;
    }
    if (std::optional<std::string> error = convert(part.take_front(fails)))
      culprits.push_back({part[fails - 1], *error});
  }

  /// A segment of the part alone: what it reads from elsewhere are arguments, what others read or nobody does are
  /// results.
  func::FuncOp extract(ArrayRef<Operation *> part) {
    llvm::SetVector<Value> read, made;
    llvm::SetVector<Operation *> inside(part.begin(), part.end()), constants;
    for (Operation *op : part) {
      read.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), read);
      for (Value result : op->getResults())
        if (result.use_empty() || llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !inside.contains(segment.front().findAncestorOpInBlock(*user));
            }))
          made.insert(result);
    }
    for (Value value : read)
      if (isConstant(value))
        constants.insert(value.getDefiningOp());
    read.remove_if([&](Value value) { return isConstant(value) || inside.contains(value.getDefiningOp()); });
    OpBuilder builder(segment.getContext());
    auto type = builder.getFunctionType(TypeRange(read.getArrayRef()), TypeRange(made.getArrayRef()));
    auto function = func::FuncOp::create(segment.getLoc(), segment.getSymName(), type);
    function.setPrivate();
    function->setAttr(kSegmentAttr, target);
    Block *body = function.addEntryBlock();
    IRMapping mapping;
    mapping.map(read.getArrayRef(), body->getArguments());
    builder.setInsertionPointToEnd(body);
    for (Operation *op : constants)
      builder.clone(*op, mapping);
    for (Operation *op : part)
      builder.clone(*op, mapping);
    SmallVector<Value> results = llvm::map_to_vector(made, [&](Value value) { return mapping.lookup(value); });
    func::ReturnOp::create(builder, segment.getLoc(), results);
    return function;
  }

  /// The first error of converting the part alone, or nothing if it converts.
  std::optional<std::string> convert(ArrayRef<Operation *> part) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(module.getLoc());
    (*scratch)->setAttrs(module->getAttrDictionary());
    func::FuncOp function = extract(part);
    scratch->push_back(function);
    std::string first;
    uint64_t thread = llvm::get_threadid(); // other threads' diagnostics are none of ours
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (llvm::get_threadid() != thread)
        return failure();
      if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
        first = diagnostic.str();
      return success();
    });
    if (succeeded(target.convertSegment(function)))
      return std::nullopt;
    return first.empty() ? "the target gave no reason" : first;
  }

  func::FuncOp segment;
  TargetAttrInterface target;
  ModuleOp module;
};
} // namespace

SmallVector<Culprit> inlay::findCulprits(func::FuncOp segment, TargetAttrInterface target, ModuleOp module) {
  SmallVector<Operation *> ops;
  for (Operation &op : segment.front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      ops.push_back(&op);
  Search search(segment, target, module);
  if (!ops.empty())
    search.find(ops);
  return std::move(search.culprits);
}
