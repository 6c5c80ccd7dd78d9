// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="block=1 max-grid=2" --split-input-file --verify-diagnostics
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="block=0" 2>&1 | FileCheck %s
// CHECK: expected positive options 'block' and 'max-grid', but got 0 and 65535
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="tuning=fast" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: expected option 'tuning' to be a dictionary, but got fast
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="tuning={{speed=1.0}}" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: expected option 'tuning' to map keys of a tuning file to positive floats, but got "speed" = 1.000000e+00 : f64
// RUN: not inlay-opt %s --inlay-convert-split-sums="longest=0 subgroup=8" 2>&1 | FileCheck %s --check-prefix=LONGEST
// LONGEST: expected option 'longest' to be positive and option 'subgroup' to be at least 0, but got 0 and 8
// RUN: not inlay-opt %s --inlay-convert-split-sums="tuning={{load=0.0}}" 2>&1 | FileCheck %s --check-prefix=COST
// COST: expected option 'tuning' to map keys of a tuning file to positive floats, but got "load" = 0.000000e+00 : f64

func.func @too_many(%x: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{unsupported-shape: expected at most 4 tiles, but got 16}}
  linalg.fill ins(%zero : f32) outs(%x : memref<64xf32>)
  return
}

// -----

// Iterations of nested loops add up: 256 of the outer loop, 65536 of the inner loop.
func.func @long_reduction(%x: memref<2x256x256xf32>, %r: memref<2xf32>) {
  // expected-error @+1 {{unsupported-shape: expected at most 65534 steps of a reduction per element}}
  linalg.reduce ins(%x : memref<2x256x256xf32>) outs(%r : memref<2xf32>) dimensions = [1, 2]
    (%in: f32, %sum: f32) {
      %0 = arith.addf %in, %sum : f32
      linalg.yield %0 : f32
    }
  return
}
