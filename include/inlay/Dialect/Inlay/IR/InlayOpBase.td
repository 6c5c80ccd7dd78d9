// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base classes of the graph ops.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYOPBASE_TD
#define INLAY_DIALECT_INLAY_IR_INLAYOPBASE_TD

include "inlay/Dialect/Inlay/IR/InlayAttrs.td"
include "inlay/Dialect/Inlay/IR/InlayInterfaces.td"
include "inlay/Dialect/Inlay/IR/InlayTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Inlay_Op<string mnemonic, list<Trait> traits = []> : Op<Inlay_Dialect, mnemonic, traits>;

/// An op of the graph. `aten` has its ATen names (`op` or `op.overload`). `reference` defines its meaning as a Python
/// expression over `torch` and the op's operands and attributes. The Python package reads both from these records, so
/// the importer, the builder and the tests need not repeat them. The type inference is also the verifier.
class Inlay_GraphOp<string mnemonic, list<string> aten, string reference, list<Trait> traits = []>
    : Inlay_Op<mnemonic, !listconcat(traits, [
        Pure, DeclareOpInterfaceMethods<AtenNamedOpInterface>, InferTypeOpAdaptorWithIsCompatible])> {
  list<string> atenNames = aten;
  string referenceMeaning = reference;
  string definitions = "";
  let extraClassDefinition = [{
    ::llvm::ArrayRef<::llvm::StringLiteral> $cppClass::getAtenNames() {
      static constexpr ::llvm::StringLiteral names[] = }] #
        "{" # !interleave(!foreach(name, aten, "::llvm::StringLiteral(\"" # name # "\")"), ", ") # [{};
      return names;
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::inlay::areRefinements(inferred, actual);
    }
  }] # definitions;
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYOPBASE_TD
