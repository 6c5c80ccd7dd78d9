// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="block=1 max-grid=2" --split-input-file --verify-diagnostics
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="block=0" 2>&1 | FileCheck %s
// CHECK: expected a positive block and grid, but got 0 and 65535

func.func @too_many(%x: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{unsupported-shape: expected at most 4 tiles, but got 16}}
  linalg.fill ins(%zero : f32) outs(%x : memref<64xf32>)
  return
}
