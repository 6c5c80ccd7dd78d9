// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Target/SegmentConversion.h"
#include "inlay/Convert/GraphToLinalg.h"
#include "inlay/Convert/Reject.h"
#include "inlay/Convert/TrialConversion.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace inlay;

Verdict inlay::tryConvert(Operation *op, const Stages &stages) {
  OwningOpRef<ModuleOp> module;
  Verdict verdict = tryConvertToLinalg(op, &module);
  if (!verdict.isSupported())
    return verdict;
  std::string message;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  if (succeeded(stages(*module)))
    return Verdict::supported();
  return parseRefusal(message.empty() ? "no-converter: the op can't be converted" : message);
}

FailureOr<OwningOpRef<ModuleOp>> inlay::convertAlone(func::FuncOp segment, const Stages &stages) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(segment.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto copy = cast<func::FuncOp>(builder.clone(*segment));
  copy.setPublic();
  for (const Refusal &refusal : convertGraphOps(*module))
    return refusal.op->emitError() << "can't be converted: " << refusal.verdict.text;
  if (failed(stages(*module)))
    return failure();
  return module;
}
