// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Stitch phase.

#ifndef INLAY_STITCH_PASSES_TD
#define INLAY_STITCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssembleProgramPass : Pass<"inlay-stitch-assemble-program", "::mlir::ModuleOp"> {
  let summary = "Turn each function of converted segments into a program over buffers";
  let description = [{
    Each value gets a buffer in the memory where it is needed, with a copy where it is needed in the other memory too;
    results are computed in the caller's memory where a host step makes them. Equal constants are one buffer.

    `scf.if`, `scf.for` and `scf.while` become `plan.branch`, `plan.for` and `plan.while`: what they give or carry has one
    buffer. A `plan.while` may run its body as often as the module's `inlay.max_loop_iterations` says, 2^24 times without
    one.

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
  let summary = "Check that programs are sound";
  let description = [{
    No step may read a temporary that no earlier step wrote, whichever bodies ran before it, no step may write an input or constant, every output must
    be written, and callees must exist and take as many buffers as they are passed, in their memory.
  }];
}

#endif // INLAY_STITCH_PASSES_TD
