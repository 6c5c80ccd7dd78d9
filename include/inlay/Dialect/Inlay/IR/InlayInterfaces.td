// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the phases ask of ops and targets.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD
#define INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD

include "mlir/IR/OpBase.td"

def TargetAttrInterface : AttrInterface<"TargetAttrInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    What can run ops. Partitioning names no target: it asks this interface of the attributes in `inlay.targets`.
    Built-in targets implement it in `Target/<Name>`, from the very patterns that convert a segment.
  }];
  let methods = [
    InterfaceMethod<"Returns the name in reports and options: \"vulkan\", \"host\", ...",
      "::llvm::StringRef", "getTargetName", (ins)>,
    InterfaceMethod<[{
        Returns true if the target is an accelerator, whose segments are worth forming and merging. The host and the
        framework are none.
      }], "bool", "isAccelerator", (ins), "", [{ return true; }]>,
    InterfaceMethod<[{
        Returns true if the code of this target can stand in for an engine of an accelerator, with the same inputs,
        after the accelerator's device fails.
      }], "bool", "canReplaceEngines", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns the key under which a cost model lists this target with its kind of device, e.g. "vulkan/software". The
        model's entry for the plain target name applies where it has none for this key.
      }], "std::string", "getCostKey", (ins), "", [{ return ::llvm::cast<::inlay::TargetAttrInterface>(::mlir::Attribute($_attr)).getTargetName().str(); }]>,
    InterfaceMethod<[{
        Whether the target can run `op` (with everything nested in it), else why not. Asked once per distinct
        (name, attributes, types); must depend on nothing else. Several threads may ask at a time.
      }], "::inlay::Verdict", "canRun", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<[{
        What the target's work, launches and transfers cost where no cost model says; by default what a discrete GPU is
        taken to cost.
      }], "::inlay::TargetCosts", "getCosts", (ins), "",
      [{ return ::inlay::getDefaultCosts(::inlay::DeviceKind::DiscreteGpu); }]>,
    InterfaceMethod<[{
        What `op` would cost in seconds, launch and transfers left out, with `costs` in effect for the target. By
        default nothing: the op's FLOP and bytes at the throughput of `costs` say it. Must depend on the op alone.
      }], "::std::optional<double>", "estimateSeconds",
      (ins "::mlir::Operation *":$op, "const ::inlay::TargetCosts &":$costs), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
        Converts the private function `segment` (one block of graph ops on tensors) to the target's engine: in its
        module an op of the same symbol replaces it. Emits diagnostics on failure.
      }], "::llvm::LogicalResult", "convertSegment", (ins "::mlir::func::FuncOp":$segment), "",
      [{ return segment.emitError("target '") << $_attr.getTargetName() << "' can't convert segments: it only declares what it can run"; }]>,
    InterfaceMethod<"Called once after all segments of `module` are converted, to join what they left.",
      "::llvm::LogicalResult", "finishModule", (ins "::mlir::ModuleOp":$module), "", [{ return ::llvm::success(); }]>,
  ];
}

def AtenNamedOpInterface : OpInterface<"AtenNamedOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    Names that frameworks and users know the op by, without a namespace: `relu`, `add.Tensor`. A user may write
    `aten::relu`, `aten.relu` or `aten.relu.default`.
  }];
  let methods = [
    StaticInterfaceMethod<"ATen names, `op` or `op.overload`.",
      "::llvm::ArrayRef<::llvm::StringLiteral>", "getAtenNames", (ins)>,
  ];
}

def PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    An op that applies one scalar function to corresponding elements of its operands, which broadcast to the result's
    shape by NumPy's rules. The scalar function is all that a target needs to know of it.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits the scalar function on `args` (one per operand, already of the result's element type unless the op says
        otherwise); null with no op emitted if the element type has no such function.
      }], "::mlir::Value", "createScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>,
  ];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD
