// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's part of the target: it decides which ops the machine can run and converts segments to programs.

#include "Dsp.h"
#include "DspMachine.h"

#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using inlay::ReasonCode;
using inlay::Verdict;

#include "DspDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "DspAttrs.cpp.inc"

void dsp::DspDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "DspAttrs.cpp.inc"
      >();
  getContext()->loadDialect<inlay::plan::PlanDialect>(); // the dialect of converted segments
}

/// Selects the instruction for `op`, without its registers. The verdict and the conversion both call this, so they
/// agree.
static Verdict select(Operation *op, dsp::Instruction &instruction) {
  auto constant = dyn_cast<inlay::ConstantOp>(op);
  std::optional<dsp::Opcode> opcode = llvm::TypeSwitch<Operation *, std::optional<dsp::Opcode>>(op)
                                          .Case([](inlay::AddOp) { return dsp::Opcode::Add; })
                                          .Case([](inlay::MulOp) { return dsp::Opcode::Mul; })
                                          .Case([](inlay::ReluOp) { return dsp::Opcode::Relu; })
                                          .Case([](inlay::ConstantOp) { return dsp::Opcode::Splat; })
                                          .Default([](Operation *) { return std::nullopt; });
  if (!opcode)
    return {ReasonCode::NoConverter, ("the machine has no instruction for " + op->getName().getStringRef()).str()};
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isF32())
      return {ReasonCode::UnsupportedType, "the machine only has registers of f32"};
    if (!tensor.hasStaticShape() || type != op->getResult(0).getType())
      return {ReasonCode::UnsupportedShape, "the machine needs tensors of one static shape"};
  }
  instruction.opcode = *opcode;
  if (constant) // constants that are not splats are inputs of segments
    instruction.value = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<float>();
  return Verdict::supported();
}

StringRef dsp::TargetAttr::getTargetName() const { return "dsp"; }

Verdict dsp::TargetAttr::canRun(Operation *op) const {
  Instruction ignored;
  return select(op, ignored);
}

LogicalResult dsp::TargetAttr::convertSegment(func::FuncOp segment) const {
  Block &body = segment.getBody().front();
  Code code;
  llvm::DenseMap<Value, uint32_t> registers;
  for (BlockArgument argument : body.getArguments())
    registers[argument] = code.inputs++;
  for (Operation &op : body.without_terminator()) {
    Instruction instruction;
    if (Verdict verdict = select(&op, instruction); !verdict.isSupported())
      return op.emitError(verdict.text);
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      instruction.operands[number] = registers.lookup(operand);
    registers[op.getResult(0)] = code.inputs + code.instructions.size();
    code.instructions.push_back(instruction);
  }
  for (Value result : body.getTerminator()->getOperands())
    code.outputs.push_back(registers.lookup(result));
  // Each op fits the machine, but the segment may need too many registers.
  if (static_cast<int64_t>(registers.size()) > getRegisters())
    return segment.emitError("the segment needs ")
           << registers.size() << " registers, but the machine has " << getRegisters();
  OpBuilder builder(segment);
  inlay::plan::ForeignEngineOp::create(builder, segment.getLoc(), segment.getSymName(), /*runner=*/"dsp", encode(code),
                                       segment.getNumArguments() + segment.getNumResults(), segment.getNumArguments());
  segment.erase();
  return success();
}
