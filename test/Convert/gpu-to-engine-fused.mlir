// REQUIRES: spirv-tools
// RUN: inlay-opt %s --inlay-convert-gpu-to-engine -o %t.mlir
// RUN: %python %S/validate_kernels.py %t.mlir spirv-val --target-env vulkan1.3 | FileCheck %s --check-prefix=VALID
// RUN: %python %S/validate_kernels.py %t.mlir spirv-dis --no-color | FileCheck %s
// VALID-NOT: error
// VALID: 1 kernels

// A fused multiply-add is decorated like other arithmetic: drivers must not use that x * 0 is usually 0.
// CHECK: OpDecorate %[[FMA:[0-9]+]] NoContraction
// CHECK: %[[FMA]] = OpExtInst %float %{{[0-9]+}} Fma
module attributes {gpu.container_module} {
  func.func @fused(%x: memref<64xf32>, %y: memref<64xf32>) attributes {plan.arguments = 2 : i64} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @a::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%x : memref<64xf32>, %y : memref<64xf32>)
    return
  }
  gpu.module @a {
    gpu.func @k(%x: memref<64xf32>, %y: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = memref.load %y[%i] : memref<64xf32>
      %2 = math.fma %0, %1, %1 : f32
      memref.store %2, %y[%i] : memref<64xf32>
      gpu.return
    }
  }
}
