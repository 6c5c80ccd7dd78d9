// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Stitch phase.

#ifndef INLAY_STITCH_PASSES_TD
#define INLAY_STITCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssembleProgramPass : Pass<"inlay-stitch-assemble-program", "::mlir::ModuleOp"> {
  let summary = "Turn each function of converted segments into a program over buffers";
  let description = [{
    Each value gets a buffer in the memory in which it is needed, and a copy if it is needed in both memories. A host
    step writes a result directly to the caller's memory. Equal constants share one buffer.

    `scf.if`, `scf.for` and `scf.while` become `plan.branch`, `plan.for` and `plan.while`. Each of their results and
    loop-carried values has one buffer. The module's `inlay.max_loop_iterations` limits the iterations of a
    `plan.while`; the default is 2^24.

    ```mlir
    func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = plan.invoke @forward_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
    with `forward_0` a host function becomes
    ```mlir
    plan.program @forward {
      %x = plan.input 0 "x" : !plan.buffer<tensor<4xf32>, host>
      %r = plan.output 0 "result 0" : !plan.buffer<tensor<4xf32>, host>
      plan.call @forward_0(%x) outs(%r) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
    }
    ```
  }];
  let dependentDialects = ["::inlay::plan::PlanDialect"];
}

def StitchVerifyPass : Pass<"inlay-stitch-verify", "::mlir::ModuleOp"> {
  let summary = "Check that programs are valid";
  let description = [{
    A step may read a temporary only if an earlier step wrote it in every possible execution. No step may write an input
    or a constant, and every output must be written. Callees must exist and must take the number of buffers that they
    are passed, in the right memory.
  }];
}

#endif // INLAY_STITCH_PASSES_TD
