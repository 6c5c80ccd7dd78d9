// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<subgroup_size=8,features=[\"subgroup-broadcast\",\"texel-reads\"],max_texel_elements=200000>" | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-gpu-to-engine="target=#inlay.vulkan<subgroup_size=8,features=[\"subgroup-broadcast\"]>" | FileCheck %s --check-prefix=STORAGE

// A buffer that is only read becomes a texel buffer, of vectors if it is read in vectors. Larger buffers stay storage
// buffers. The kernel requires the subgroup size and more texels than all devices support.
// CHECK: plan.kernel @k0
// CHECK-SAME: bindings [#plan.access<read>, #plan.access<read>, #plan.access<read>, #plan.access<write>]
// CHECK-SAME: kinds [#plan.binding_kind<vector_texels>, #plan.binding_kind<scalar_texels>, #plan.binding_kind<storage>, #plan.binding_kind<storage>]
// CHECK-SAME: requires ["subgroup-ballot", "subgroup-size=8", "texel-elements=131072"]
// STORAGE: plan.kernel @k0
// STORAGE-NOT: kinds
// STORAGE-SAME: requires ["subgroup-ballot", "subgroup-size=8"]
module attributes {gpu.container_module} {
  func.func @f(%v: memref<64xf32>, %s: memref<131072xf32>, %large: memref<200001xf32>, %r: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @a::@k blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%v : memref<64xf32>, %s : memref<131072xf32>, %large : memref<200001xf32>, %r : memref<64xf32>)
    return
  }
  gpu.module @a {
    gpu.func @k(%v: memref<64xf32>, %s: memref<131072xf32>, %large: memref<200001xf32>, %r: memref<64xf32>) kernel {
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : i32
      %lane = gpu.lane_id
      %i = arith.muli %lane, %c4 : index
      %0 = vector.load %v[%i] : memref<64xf32>, vector<4xf32>
      %1 = memref.load %s[%lane] : memref<131072xf32>
      %2 = memref.load %large[%lane] : memref<200001xf32>
      %3 = gpu.subgroup_broadcast %1, specific_lane %c3 : f32
      %4 = arith.addf %2, %3 : f32
      %5 = vector.broadcast %4 : f32 to vector<4xf32>
      %6 = arith.addf %0, %5 : vector<4xf32>
      vector.store %6, %r[%i] : memref<64xf32>, vector<4xf32>
      gpu.return
    }
  }

  // The words are equal, but the texel buffers have other sizes, and a device may support only the smaller ones.
  // CHECK: plan.engine @sizes
  // CHECK: plan.kernel @k0
  // CHECK-SAME: requires ["texel-elements=70000"]
  // CHECK: plan.kernel @k1
  // CHECK-SAME: requires ["texel-elements=80000"]
  // CHECK-NOT: plan.kernel
  func.func @sizes(%s: memref<70000xf32>, %l: memref<80000xf32>, %r: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @b::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%s : memref<70000xf32>, %r : memref<64xf32>)
    gpu.launch_func @c::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%l : memref<80000xf32>, %r : memref<64xf32>)
    gpu.launch_func @b::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%s : memref<70000xf32>, %r : memref<64xf32>)
    return
  }
  gpu.module @b {
    gpu.func @k(%s: memref<70000xf32>, %r: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %0 = memref.load %s[%c0] : memref<70000xf32>
      memref.store %0, %r[%c0] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @c {
    gpu.func @k(%s: memref<80000xf32>, %r: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %0 = memref.load %s[%c0] : memref<80000xf32>
      memref.store %0, %r[%c0] : memref<64xf32>
      gpu.return
    }
  }
}
