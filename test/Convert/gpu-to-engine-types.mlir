// RUN: inlay-opt %s --inlay-convert-gpu-to-engine | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<features=[\"int16\"]>" | FileCheck %s --check-prefixes=CHECK,INTEGERS

// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<features=[\"float16\"]>" | FileCheck %s --check-prefixes=NATIVE

// A kernel needs no feature for bf16 if it keeps the elements in words. The bindings are those of the buffers.
// CHECK: plan.engine @bfloats
// CHECK: plan.kernel @k0 spirv dense<{{.*}}> bindings [#plan.access<read>, #plan.access<write>]
// WORDS-NOT: requires
// INTEGERS-SAME: requires ["int16", "storage16"]
module attributes {gpu.container_module} {
  func.func @bfloats(%x: memref<65xbf16>, %y: memref<65xbf16>) attributes {plan.arguments = 2 : i64} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @a::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%x : memref<65xbf16>, %y : memref<65xbf16>)
    return
  }
  gpu.module @a {
    gpu.func @k(%x: memref<65xbf16>, %y: memref<65xbf16>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<65xbf16>
      %1 = arith.addf %0, %0 : bf16
      memref.store %1, %y[%i] : memref<65xbf16>
      gpu.return
    }
  }
  // Without float16, a load of a vector becomes loads of its elements.
  // CHECK: plan.engine @halves
  // WORDS-NOT: requires
  // INTEGERS: requires ["int16", "storage16"]
  // NATIVE: plan.engine @halves
  // NATIVE: requires ["float16", "storage16"]
  func.func @halves(%x: memref<64xf16>, %y: memref<16xf16>) attributes {plan.arguments = 2 : i64} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func @b::@k blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%x : memref<64xf16>, %y : memref<16xf16>)
    return
  }
  gpu.module @b {
    gpu.func @k(%x: memref<64xf16>, %y: memref<16xf16>) kernel {
      %c4 = arith.constant 4 : index
      %i = gpu.thread_id x
      %first = arith.muli %i, %c4 : index
      %0 = vector.load %x[%first] : memref<64xf16>, vector<4xf16>
      %1 = vector.extract %0[0] : f16 from vector<4xf16>
      %2 = vector.extract %0[3] : f16 from vector<4xf16>
      %3 = arith.addf %1, %2 : f16
      memref.store %3, %y[%i] : memref<16xf16>
      gpu.return
    }
  }
}
