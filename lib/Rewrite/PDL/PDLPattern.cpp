// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements GraphPattern with a match program and a replacement. PDLReader.cpp reads the text.

#include "inlay/Rewrite/PDLPattern.h"
#include "CompiledPattern.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace inlay;

PDLPattern::PDLPattern(std::string name, unsigned benefit, RootSet roots,
                       std::shared_ptr<const CompiledPattern> compiled)
    : GraphPattern(std::move(roots), benefit), name(std::move(name)), compiled(std::move(compiled)) {}

PDLPattern::~PDLPattern() = default;

std::string PDLPattern::getText() const {
  // The attributes with the names of captures are removed. They would be printed at a place where an op without result
  // types does not parse.
  OwningOpRef<Operation *> copy(compiled->source->clone());
  copy->walk([](Operation *op) { op->removeAttr("capture"); });
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy->print(stream, OpPrintingFlags().useLocalScope());
  return text += "\n";
}

Location PDLPattern::getLoc() const { return compiled->source->getLoc(); }

ArrayRef<std::string> PDLPattern::getArgNames() const { return compiled->argNames; }

bool PDLPattern::isForFiniteNumbers() const { return compiled->source->hasAttr("finite"); }

static Capture getCapture(const Slot &slot, unsigned number, Bindings &bindings) {
  switch (slot.kind) {
  case SlotKind::Operation:
    return bindings.op(number);
  case SlotKind::Value:
    return bindings.value(number);
  case SlotKind::Attribute:
    return bindings.attribute(number);
  case SlotKind::Type:
    return bindings.type(number);
  case SlotKind::Values:
    return bindings.values(number);
  case SlotKind::Types:
    return bindings.types(number);
  }
  return {};
}

LogicalResult PDLPattern::match(Operation *op, Match &match, const MatchContext &context) const {
  const MatchProgram &program = compiled->program;
  Bindings bindings;
  if (!program.run(op, bindings, context) ||
      failed(compiled->replacement.getCarried(program, bindings, context.whyNot)))
    return failure();
  match.root = op;
  for (unsigned slot : program.ops)
    match.ops.push_back(bindings.op(slot));
  for (auto [number, slot] : llvm::enumerate(program.slots))
    if (!slot.name.empty() && bindings[number])
      match.capture(slot.name, getCapture(slot, number, bindings));
  return success();
}

/// Erases unused matched ops that are not registered. Only the pattern knows that they have no side effects. Their
/// users are erased first if these are unused too.
static void eraseUnknown(const MatchProgram &program, Bindings &bindings, Operation *root, GraphRewriter &rewriter) {
  auto isUnknown = [&](unsigned slot) { return !bindings.op(slot)->isRegistered(); };
  if (llvm::none_of(program.ops, isUnknown))
    return;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned slot : program.ops) {
      Operation *op = bindings.op(slot);
      if (op == root || !op->getBlock() || !isUnused(op) || op->getNumResults() == 0)
        continue;
      if (!isUnknown(slot) && !wouldOpBeTriviallyDead(op))
        continue;
      rewriter.eraseOp(op);
      changed = true;
    }
  }
}

LogicalResult PDLPattern::matchAndRewrite(Operation *op, GraphRewriter &rewriter, const MatchContext &context) const {
  const MatchProgram &program = compiled->program;
  Bindings bindings;
  if (!program.run(op, bindings, context))
    return failure();
  auto carried = compiled->replacement.getCarried(program, bindings, context.whyNot);
  if (failed(carried))
    return failure();
  if (failed(compiled->replacement.apply(program, bindings, *carried, rewriter)))
    return failure();
  eraseUnknown(program, bindings, op, rewriter);
  return success();
}
