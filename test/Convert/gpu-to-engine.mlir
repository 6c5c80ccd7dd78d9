// RUN: inlay-opt %s --inlay-convert-gpu-to-engine | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<features=[\"float16\"]>" | FileCheck %s

// Equal kernels are merged. Buffers are numbered by argument, and scalars become push constants.
// CHECK: plan.engine @twice arguments 2 scratch #{{.*}} {
// CHECK: plan.kernel @k0 spirv dense<{{.*}}> bindings [#plan.access<read>, #plan.access<write>] block [64, 1, 1] push_constants 1
// CHECK: plan.dispatch @k0 buffers [0, 2] grid #[[GRID:.*]] push_constants #[[COUNT:.*]]
// CHECK-NOT: plan.kernel
// CHECK: plan.dispatch @k0 buffers [2, 1] grid #[[GRID]] push_constants #[[COUNT]]
// CHECK-NOT: gpu.module
module attributes {gpu.container_module} {
  func.func @twice(%x: memref<128xf32>, %y: memref<128xf32>, %scratch: memref<128xf32>)
      attributes {plan.arguments = 2 : i64} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @a::@k blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%x : memref<128xf32>, %scratch : memref<128xf32>, %c128 : index)
    gpu.launch_func @b::@k blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%scratch : memref<128xf32>, %y : memref<128xf32>, %c128 : index)
    return
  }
  gpu.module @a {
    gpu.func @k(%x: memref<128xf32>, %y: memref<128xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %0 = memref.load %x[%i] : memref<128xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%i] : memref<128xf32>
      }
      gpu.return
    }
  }
  gpu.module @b {
    gpu.func @k(%x: memref<128xf32>, %y: memref<128xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %0 = memref.load %x[%i] : memref<128xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%i] : memref<128xf32>
      }
      gpu.return
    }
  }
}
