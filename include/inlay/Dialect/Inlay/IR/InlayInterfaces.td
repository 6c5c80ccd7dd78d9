// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interfaces through which the phases query ops and targets.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD
#define INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD

include "mlir/IR/OpBase.td"

def TargetAttrInterface : AttrInterface<"TargetAttrInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    A target that can run ops. Partitioning names no target: it calls this interface of the attributes in
    `inlay.targets`. The built-in targets implement it in `Target/<Name>` with the same patterns that convert a segment.
  }];
  let methods = [
    InterfaceMethod<"Returns the name in reports and options: \"vulkan\", \"host\", ...",
      "::llvm::StringRef", "getTargetName", (ins)>,
    InterfaceMethod<[{
        Returns true if the target is an accelerator, for which larger segments pay off. The host and the framework
        are not accelerators.
      }], "bool", "isAccelerator", (ins), "", [{ return true; }]>,
    InterfaceMethod<[{
        Returns true if the code of this target can stand in for an engine of an accelerator, with the same inputs,
        after the accelerator's device fails.
      }], "bool", "canReplaceEngines", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns true if the conversion of a segment respects `plan.updates`: a result replaces an input in its memory.
      }], "bool", "canUpdateInPlace", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Returns the key under which a cost model lists this target with its kind of device, e.g. "vulkan/software". If
        the model has no entry for this key, its entry for the plain target name applies.
      }], "std::string", "getCostKey", (ins), "", [{ return ::llvm::cast<::inlay::TargetAttrInterface>(::mlir::Attribute($_attr)).getTargetName().str(); }]>,
    InterfaceMethod<[{
        Returns a verdict that states if the target can run `op` with everything nested in it, and if not, why. The
        result is cached by op name, attributes and types, so it must depend on nothing else. Several threads may call
        this at the same time.
      }], "::inlay::Verdict", "canRun", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<[{
        Returns the costs of the target's work, launches and transfers for use without a cost model file. The default
        implementation returns the costs of a discrete GPU.
      }], "::inlay::TargetCosts", "getCosts", (ins), "",
      [{ return ::inlay::getDefaultCosts(::inlay::DeviceKind::DiscreteGpu); }]>,
    InterfaceMethod<[{
        Returns an estimate of the time of `op` in seconds, without launch and transfers, if `costs` are the costs of
        the target. Returns std::nullopt, the default, if the time follows from the op's FLOP and bytes and the
        throughput in `costs`. The estimate must depend on the op only.
      }], "::std::optional<double>", "estimateSeconds",
      (ins "::mlir::Operation *":$op, "const ::inlay::TargetCosts &":$costs), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
        Converts the private function `segment` (one block of graph ops on tensors) to the target's engine, an op with
        the same symbol that replaces the function in its module. Emits diagnostics on failure.
      }], "::llvm::LogicalResult", "convertSegment", (ins "::mlir::func::FuncOp":$segment), "",
      [{ return segment.emitError("target '") << $_attr.getTargetName() << "' can't convert segments: it only declares what it can run"; }]>,
    InterfaceMethod<"Called once after all segments of `module` are converted, to combine their results.",
      "::llvm::LogicalResult", "finishModule", (ins "::mlir::ModuleOp":$module), "", [{ return ::llvm::success(); }]>,
  ];
}

def AtenNamedOpInterface : OpInterface<"AtenNamedOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    The names by which frameworks and users know the op, without a namespace: `relu`, `add.Tensor`. A user may write
    `aten::relu`, `aten.relu` or `aten.relu.default`.
  }];
  let methods = [
    StaticInterfaceMethod<"Returns the ATen names of the op, as `op` or `op.overload`.",
      "::llvm::ArrayRef<::llvm::StringLiteral>", "getAtenNames", (ins)>,
  ];
}

def PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let cppNamespace = "::inlay";
  let description = [{
    An op that applies one scalar function to corresponding elements of its operands. The operands broadcast to the
    shape of the result by NumPy's rules. The scalar function is all that a target needs to know about the op.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits the scalar function on `args` and returns its result. There is one argument per operand, of the result's
        element type unless the op specifies otherwise. Returns null and emits nothing if the function does not exist
        for the element type.
      }], "::mlir::Value", "createScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>,
  ];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYINTERFACES_TD
