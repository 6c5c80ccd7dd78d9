// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the stages of a target in a separate module: on one op for a verdict (`tryConvert`), or on a segment
// (`convertAlone`). ConvertSegments.cpp is the pass that converts all segments.

#include "inlay/Convert/SegmentConversion.h"
#include "Convert/GraphToLinalg/TrialConversion.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Convert/GraphToLinalg/Refuse.h"
#include "inlay/Dialect/Inlay/IR/Border.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace inlay;

/// Checks that code can be generated for these values: tensors whose sizes are known at a call at the latest, and
/// scalars if `takesScalars`, because outlining turns them into tensors.
static Verdict checkValues(ValueRange values, bool takesScalars) {
  for (Value value : values) {
    std::string spelled;
    llvm::raw_string_ostream(spelled) << value.getType();
    auto tensor = takesScalars ? getBorderType(value.getType()) : dyn_cast<RankedTensorType>(value.getType());
    if (!tensor)
      return {ReasonCode::UnsupportedType,
              (takesScalars ? "expected tensors and scalars, but got " : "expected tensors, but got ") + spelled};
    if (tensor == value.getType() && !getDims(value))
      return {ReasonCode::UnsupportedShape,
              "expected tensors whose dims follow from the dims of inputs, but got " + spelled};
    if (!isRuntimeElement(tensor.getElementType()))
      return {ReasonCode::UnsupportedType,
              "expected tensors of bool, i8-i64, f16, bf16, f32 or f64, but got " + spelled};
  }
  return Verdict::supported();
}

Verdict inlay::tryConvert(Operation *op, const Stages &stages) {
  OwningOpRef<ModuleOp> module;
  Verdict verdict = tryConvertToLinalg(op, &module);
  if (!verdict.isSupported())
    return verdict;
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    if (verdict = checkValues(values, /*takesScalars=*/true); !verdict.isSupported())
      return verdict;
  std::string message;
  uint64_t thread = llvm::get_threadid(); // Other threads report their own diagnostics.
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  if (succeeded(stages(*module)))
    return Verdict::supported();
  verdict = parseRefusal(message);
  if (!StringRef(message).starts_with(stringifyReasonCode(verdict.code))) // The message is from an upstream pass.
    verdict.text = (getReportedName(op) + " can't be converted" + (message.empty() ? "" : ": " + message)).str();
  return verdict;
}

FailureOr<OwningOpRef<ModuleOp>> inlay::convertAlone(func::FuncOp segment, const Stages &stages,
                                                     const Preparation &prepare) {
  ValueRange results = segment.getBody().front().getTerminator()->getOperands();
  for (ValueRange values : {ValueRange(segment.getArguments()), results})
    if (Verdict verdict = checkValues(values, /*takesScalars=*/false); !verdict.isSupported())
      return segment.emitError() << stringifyReasonCode(verdict.code) << ": " << verdict.text;
  OwningOpRef<ModuleOp> module = ModuleOp::create(segment.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto copy = cast<func::FuncOp>(builder.clone(*segment));
  copy.setPublic();
  if (Operation *foreign = findForeignOp(copy))
    return foreign->emitError() << "can't be converted: " << explainForeignOp(foreign);
  if (prepare)
    prepare(copy);
  for (const Refusal &refusal : convertGraphOps(*module))
    return refusal.op->emitError() << "can't be converted: " << refusal.verdict.text;
  if (failed(stages(*module)))
    return failure();
  return module;
}
