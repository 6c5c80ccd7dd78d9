// RUN: not inlay-opt %s --inlay-convert-form-workgroup-kernels="block=12" 2>&1 | FileCheck %s
// RUN: not inlay-opt %s --inlay-convert-form-workgroup-kernels="max-grid=0" 2>&1 | FileCheck %s --check-prefix=GRID
// CHECK: expected option 'block' to be a power of two and option 'max-grid' to be positive, but got 12 and 65535
// GRID: expected option 'block' to be a power of two and option 'max-grid' to be positive, but got 64 and 0

func.func @empty() {
  return
}
