// REQUIRES: python, torch
// Each call checks the conditions on sizes that the function has and those that its ops need.
// RUN: %python -c "import numpy as n; [n.save('%t.%%d.npy' %% i, n.ones((i, 8), 'f4')) for i in (3, 4, 5, 6, 9)]"
// RUN: inlay-compile %s -o %t.inlay --targets=host
// RUN: inlay-run --describe %t.inlay | FileCheck %s --check-prefix=DESCRIBE
// DESCRIBE:      conditions on sizes
// DESCRIBE-NEXT:   rows % 2 == 0 or rows >= 5 and others >= rows
// DESCRIBE-NEXT:   rows == others

// RUN: inlay-run %t.inlay --input=%t.4.npy --input=%t.4.npy | FileCheck %s
// RUN: inlay-run %t.inlay --input=%t.9.npy --input=%t.9.npy | FileCheck %s
// CHECK: result 0: float32[8x8]

// RUN: not inlay-run %t.inlay --input=%t.3.npy --input=%t.3.npy 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: expected sizes for which rows % 2 == 0 or rows >= 5 and others >= rows, but 'rows' is 3 and 'others' is 3
// RUN: not inlay-run %t.inlay --input=%t.4.npy --input=%t.6.npy 2>&1 | FileCheck %s --check-prefix=OP
// OP: expected sizes for which {{.*}}, but 'rows' is 4 and 'others' is 6
func.func @forward(%x: tensor<?x8xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, 8)>},
                   %y: tensor<?x8xf32> {inlay.dims = affine_map<()[s0, s1] -> (s1, 8)>}) -> tensor<8x8xf32>
    attributes {inlay.symbols = [#inlay.symbol<"rows", 1 to 64>, #inlay.symbol<"others", 1 to 64>],
                inlay.conditions = [[affine_set<()[s0, s1] : (s0 mod 2 == 0)>,
                                     affine_set<()[s0, s1] : (s0 - 5 >= 0, s1 - s0 >= 0)>]]} {
  %0 = inlay.permute %x dims [1, 0] : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %1 = inlay.matmul %0, %y : (tensor<8x?xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
