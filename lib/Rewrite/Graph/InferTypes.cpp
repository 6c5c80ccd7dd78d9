// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infers the result types of an op that does not exist yet, after a check that its required attributes are there.
// CreateOp.cpp creates it.

#include "InferTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

/// Reports a missing attribute that the op's definition requires. Type inference would read it without a check.
static LogicalResult checkRequired(const OperationState &state, std::optional<Location> loc) {
  if (llvm::all_of(state.name.getAttributeNames(), [&](StringAttr name) { return state.attributes.get(name); }))
    return success();
  std::string missing;
  {
    ScopedDiagnosticHandler handler(state.getContext(), [&](Diagnostic &diagnostic) {
      if (std::string text = diagnostic.str(); text.find("requires attribute") != std::string::npos)
        missing = text;
      return success();
    });
    OperationState probe(UnknownLoc::get(state.getContext()), state.name, state.operands,
                         {NoneType::get(state.getContext())}, state.attributes.getAttrs());
    Operation *op = Operation::create(probe);
    (void)state.name.verifyInvariants(op);
    op->destroy();
  }
  if (missing.empty())
    return success();
  return loc ? emitError(*loc, missing) : failure();
}

LogicalResult inlay::inferTypes(OperationState &state, std::optional<Location> loc) {
  OperationName name = state.name;
  auto *inference = name.getInterface<InferTypeOpInterface>();
  if (!inference)
    return success();
  MLIRContext *context = state.getContext();
  if (failed(checkRequired(state, loc)))
    return failure();
  DictionaryAttr attributes = state.attributes.getDictionary(context);
  SmallVector<char> storage(name.getOpPropertyByteSize() + alignof(std::max_align_t));
  OpaqueProperties properties(nullptr);
  if (name.getOpPropertyByteSize() > 0) {
    auto address = llvm::alignAddr(storage.data(), llvm::Align(alignof(std::max_align_t)));
    properties = OpaqueProperties(reinterpret_cast<void *>(address));
    name.initOpProperties(properties, OpaqueProperties(nullptr));
  }
  auto done = [&](LogicalResult result) {
    if (properties)
      name.destroyOpProperties(properties);
    return result;
  };
  auto emit = [&] { return mlir::emitError(loc.value_or(UnknownLoc::get(context))); };
  if (properties && failed(name.setOpPropertiesFromAttribute(name, properties, attributes, emit)))
    return done(failure());
  return done(
      inference->inferReturnTypes(context, loc, state.operands, attributes, properties, state.regions, state.types));
}
