// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts each outlined segment to an engine of its target. A segment that fails is restored, with `inlay.refused` on
// the ops that its target cannot convert, so that the graph can be partitioned again.

#include "FailingOps.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_CONVERTSEGMENTSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns the target that must convert `func`, or null if `func` is no segment. Fails if `func` is malformed.
static FailureOr<TargetAttrInterface> getSegmentTarget(func::FuncOp func) {
  Attribute attr = func->getAttr(plan::kSegmentAttr);
  if (!attr)
    return TargetAttrInterface();
  auto target = dyn_cast<TargetAttrInterface>(attr);
  if (!target)
    return func.emitError("expected '") << plan::kSegmentAttr << "' to be a target, but got " << attr;
  if (func.isDeclaration())
    return func.emitError("expected a segment to convert, but it has no body");
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("expected a segment of one block, but got ")
           << func.getBody().getBlocks().size() << " blocks";
  return target;
}

static void markRefused(Operation *op, StringRef target, StringRef error) {
  NamedAttrList refused(op->getAttrOfType<DictionaryAttr>(InlayDialect::kRefusedAttr));
  refused.set(target, StringAttr::get(op->getContext(), "conversion failed: " + error));
  op->setAttr(InlayDialect::kRefusedAttr, refused.getDictionary(op->getContext()));
}

/// Restores the original segment in place of the remains of a failed conversion. Marks the ops that the target cannot
/// convert.
static void restore(ModuleOp module, OwningOpRef<func::FuncOp> segment, TargetAttrInterface target) {
  for (const FailingOp &failingOp : findFailingOps(*segment, target, module))
    markRefused(failingOp.op, target.getTargetName(), failingOp.error);
  while (Operation *left = SymbolTable::lookupSymbolIn(module, segment->getSymNameAttr()))
    left->erase();
  module.push_back(segment.release());
}

/// Returns the first target that can replace engines: of the module's targets, else of the default ones. Returns null
/// if there is none.
static TargetAttrInterface findReplacement(ModuleOp module) {
  SmallVector<Attribute> candidates;
  if (auto targets = module->getAttrOfType<ArrayAttr>(InlayDialect::kTargetsAttr))
    llvm::append_range(candidates, targets);
  llvm::append_range(candidates, module.getContext()->getOrLoadDialect<InlayDialect>()->getDefaultTargets());
  for (Attribute candidate : candidates)
    if (auto target = dyn_cast<TargetAttrInterface>(candidate); target && target.canReplaceEngines())
      return target;
  return nullptr;
}

/// Converts `segment`, from which `engine` was made, for the host too. If the conversion fails, the engine has no host
/// version.
static void addHostVersion(plan::EngineOp engine, OwningOpRef<func::FuncOp> segment, TargetAttrInterface host) {
  auto module = engine->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  func::FuncOp copy = segment.release();
  copy.setSymName((engine.getSymName() + "_host").str());
  copy->setAttr(plan::kSegmentAttr, host);
  StringAttr name = symbols.insert(copy);
  std::string why;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      why = diagnostic.str();
    return success();
  });
  if (succeeded(host.convertSegment(copy))) {
    engine.setHostVersion(name.strref());
    return;
  }
  while (Operation *left = SymbolTable::lookupSymbolIn(module, name))
    left->erase();
  remark::missed(engine.getLoc(), remark::RemarkOpts::name("NoHostVersion").category("inlay-convert"))
      << remark::reason("segment '{0}' can't run on the host: {1}", engine.getSymName().str(), why);
}

namespace {
struct ConvertSegmentsPass : inlay::impl::ConvertSegmentsPassBase<ConvertSegmentsPass> {
  using ConvertSegmentsPassBase::ConvertSegmentsPassBase;

  void runOnOperation() override {
    TargetAttrInterface host = hostVersions ? findReplacement(getOperation()) : TargetAttrInterface();
    llvm::SetVector<TargetAttrInterface> targets;
    bool ok = true;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      FailureOr<TargetAttrInterface> target = getSegmentTarget(func);
      if (failed(target))
        return signalPassFailure();
      if (!*target)
        continue;
      targets.insert(*target);
      OwningOpRef<func::FuncOp> original = func.clone();
      StringAttr name = func.getSymNameAttr();
      if (succeeded(target->convertSegment(func))) {
        auto engine = dyn_cast_or_null<plan::EngineOp>(SymbolTable::lookupSymbolIn(getOperation(), name));
        if (engine && host) {
          addHostVersion(engine, std::move(original), host);
          targets.insert(host);
        }
        continue;
      }
      restore(getOperation(), std::move(original), *target);
      ok = false;
    }
    if (!ok)
      return signalPassFailure();
    for (TargetAttrInterface target : targets)
      if (failed(target.finishModule(getOperation())))
        return signalPassFailure();
  }
};
} // namespace
