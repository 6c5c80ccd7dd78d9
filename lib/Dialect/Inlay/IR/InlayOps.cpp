// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated definitions of ops and interfaces.

#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/PointwiseScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#include "inlay/Dialect/Inlay/IR/InlayAttrInterfaces.cpp.inc"
#include "inlay/Dialect/Inlay/IR/InlayOpInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayOps.cpp.inc"
