// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated definitions of ops and interfaces, and the parsers and printers that they use.

#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/PointwiseScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

//===-- Numbers that may be dynamic -----------------------------------------------------------------------------===//

static ParseResult parseNumber(OpAsmParser &parser, int64_t &number) {
  if (succeeded(parser.parseOptionalQuestion())) {
    number = ShapedType::kDynamic;
    return success();
  }
  return parser.parseInteger(number);
}

static void printNumber(OpAsmPrinter &printer, int64_t number) {
  if (ShapedType::isDynamic(number))
    printer << '?';
  else
    printer << number;
}

static ParseResult parseSize(OpAsmParser &parser, IntegerAttr &size) {
  int64_t number = 0;
  if (failed(parseNumber(parser, number)))
    return failure();
  size = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

static void printSize(OpAsmPrinter &printer, Operation *, IntegerAttr size) { printNumber(printer, size.getInt()); }

static ParseResult parseSizes(OpAsmParser &parser, DenseI64ArrayAttr &sizes) {
  SmallVector<int64_t> numbers;
  auto parseOne = [&]() { return parseNumber(parser, numbers.emplace_back()); };
  if (failed(parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne)))
    return failure();
  sizes = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printSizes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(sizes.asArrayRef(), printer, [&](int64_t number) { printNumber(printer, number); });
  printer << ']';
}

#include "inlay/Dialect/Inlay/IR/InlayAttrInterfaces.cpp.inc"
#include "inlay/Dialect/Inlay/IR/InlayOpInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayOps.cpp.inc"
