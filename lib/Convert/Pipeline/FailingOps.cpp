// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds failing ops by group testing: a part of the segment that converts holds no failing op; a part that fails is
// halved.

#include "FailingOps.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Support/Extract.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace inlay;

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
      failingOps.push_back({part.front(), *error});
      return;
    }
    size_t known = failingOps.size(), half = part.size() / 2;
    find(part.take_front(half));
    find(part.drop_front(half));
    if (failingOps.size() == known)
      findLastOfPrefix(part, half);
  }

  SmallVector<FailingOp> failingOps;

private:
  /// Records the last op of the shortest prefix of `part` that fails. The first `converts` ops of the part convert; the
  /// whole part does not.
  void findLastOfPrefix(ArrayRef<Operation *> part, size_t converts) {
    size_t fails = part.size();
    while (fails - converts > 1) {
      size_t middle = converts + (fails - converts) / 2;
      (convert(part.take_front(middle)) ? fails : converts) = middle;
    }
    if (std::optional<std::string> error = convert(part.take_front(fails)))
      failingOps.push_back({part[fails - 1], *error});
  }

  /// Converts the part in a separate module. Returns the first error, or nullopt if the part converts.
  std::optional<std::string> convert(ArrayRef<Operation *> part) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(module.getLoc());
    (*scratch)->setAttrs(module->getAttrDictionary());
    func::FuncOp function = extractFunction(part, segment.getLoc(), segment.getSymName()).function;
    function->setAttr(plan::kSegmentAttr, target);
    scratch->push_back(function);
    std::string first;
    uint64_t thread = llvm::get_threadid(); // Other threads report their own diagnostics.
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

SmallVector<FailingOp> inlay::findFailingOps(func::FuncOp segment, TargetAttrInterface target, ModuleOp module) {
  SmallVector<Operation *> ops;
  for (Operation &op : segment.front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      ops.push_back(&op);
  Search search(segment, target, module);
  if (!ops.empty())
    search.find(ops);
  return std::move(search.failingOps);
}
