// RUN: inlay-opt %s --inlay-convert-gpu-to-engine --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  func.func @zeros(%x: memref<64xi8>) attributes {plan.arguments = 1 : i64} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @a::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xi8>)
    return
  }
  gpu.module @a {
    gpu.func @k(%x: memref<64xi8>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<64xi8>
      // expected-error @+1 {{unsupported-type: vulkan can't emulate math.ctlz of 'i8'}}
      %1 = math.ctlz %0 : i8
      memref.store %1, %x[%i] : memref<64xi8>
      gpu.return
    }
  }
}
