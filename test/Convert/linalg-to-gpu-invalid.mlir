// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="block=1 max-grid=2" --split-input-file --verify-diagnostics
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="block=0" 2>&1 | FileCheck %s
// CHECK: expected a positive block and grid, but got 0 and 65535

func.func @too_many(%x: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{unsupported-shape: expected at most 4 tiles, but got 16}}
  linalg.fill ins(%zero : f32) outs(%x : memref<64xf32>)
  return
}

// -----

// Loops within loops count together: 256 of the outer, 65536 of the inner.
func.func @long_reduction(%x: memref<2x256x256xf32>, %r: memref<2xf32>) {
  // expected-error @+1 {{unsupported-shape: expected at most 65534 steps of a reduction per element}}
  linalg.reduce ins(%x : memref<2x256x256xf32>) outs(%r : memref<2xf32>) dimensions = [1, 2]
    (%in: f32, %sum: f32) {
      %0 = arith.addf %in, %sum : f32
      linalg.yield %0 : f32
    }
  return
}
