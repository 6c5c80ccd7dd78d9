// RUN: not inlay-opt %s --inlay-convert-form-workgroup-kernels="block=12" 2>&1 | FileCheck %s
// RUN: not inlay-opt %s --inlay-convert-form-workgroup-kernels="max-grid=0" 2>&1 | FileCheck %s --check-prefix=GRID
// CHECK: expected a block of a power of two and a positive grid, but got 12 and 65535
// GRID: expected a block of a power of two and a positive grid, but got 64 and 0

func.func @empty() {
  return
}
