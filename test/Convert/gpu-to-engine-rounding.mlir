// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<features=[\"float16\"]>" | FileCheck %s

// Only stores to a buffer may state the rounding to f16: SPIR-V forbids it for workgroup memory.
// CHECK: plan.engine @halves
module attributes {gpu.container_module} {
  func.func @halves(%x: memref<64xf32>, %y: memref<64xf16>) attributes {plan.arguments = 2 : i64} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @a::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%x : memref<64xf32>, %y : memref<64xf16>)
    return
  }
  gpu.module @a {
    gpu.func @k(%x: memref<64xf32>, %y: memref<64xf16>) kernel {
      %local = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
      %i = gpu.thread_id x
      %c63 = arith.constant 63 : index
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = arith.truncf %0 : f32 to f16
      memref.store %1, %local[%i] : memref<64xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %j = arith.subi %c63, %i : index
      %2 = memref.load %local[%j] : memref<64xf16, #gpu.address_space<workgroup>>
      %3 = arith.extf %2 : f16 to f32
      %4 = arith.addf %3, %0 : f32
      %5 = arith.truncf %4 : f32 to f16
      memref.store %5, %y[%i] : memref<64xf16>
      gpu.return
    }
  }
}
