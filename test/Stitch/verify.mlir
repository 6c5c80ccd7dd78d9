// RUN: inlay-opt %s --inlay-stitch-verify | FileCheck %s

// CHECK-LABEL: plan.program @sound
plan.program @sound {
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  %r = plan.output 0 "r" : <tensor<4xf32>, host>
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  plan.copy %x to %t : <tensor<4xf32>, host>, <tensor<4xf32>, device>
  %u = plan.temporary "u" : <tensor<4xf32>, device>
  plan.launch @e(%t) outs(%u) : (!plan.buffer<tensor<4xf32>, device>) -> (!plan.buffer<tensor<4xf32>, device>)
  plan.copy %u to %r : <tensor<4xf32>, device>, <tensor<4xf32>, host>
}
plan.engine @e arguments 2 scratch affine_map<() -> ()> {}
