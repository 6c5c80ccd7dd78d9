// REQUIRES: vulkan
// RUN: inlay-run %s --require-full-compilation --require-device --compare \
// RUN:   --input-shape=x:a=0..3xk=0..40xb=0..3xc=0..3xm=0..40 --input-shape=w:a=0..3xb=0..3xc=0..3xk=0..40xn=0..40 \
// RUN:   --input-shape=g0:c=0..3xm=0..40xb=0..3xa=0..3xn=0..40 \
// RUN:   --input-shape=g1:b=0..3xm=0..40xa=0..3xn=0..40xc=0..3 \
// RUN:   --input-shape=g2:a=0..3xb=0..3xc=0..3xn=0..40xm=0..40 \
// RUN:   --input-shape=g3:b=0..3xa=0..3xn=0..40xm=0..40xc=0..3 \
// RUN:   --input-shape=g4:n=0..40xc=0..3xb=0..3xm=0..40xa=0..3 --size=a=1 --size=b=2 --size=c=1 --size=m=6 \
// RUN:   --size=n=7 --size=k=5 | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Sizes and strides that are known only at a call are push constants of kernels, of which devices support few. The ops
// around a product have kernels of their own if one kernel would need too many.

module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, features = ["subgroup-broadcast", "subgroup-arithmetic", "int8"], kind = "discrete">, #inlay.host]} {
func.func public @forward(%x: tensor<?x?x?x?x?xf32> loc("x"), %w: tensor<?x?x?x?x?xf32> loc("w"), %g0: tensor<?x?x?x?x?xf32> loc("g0"), %g1: tensor<?x?x?x?x?xf32> loc("g1"), %g2: tensor<?x?x?x?x?xf32> loc("g2"), %g3: tensor<?x?x?x?x?xf32> loc("g3"), %g4: tensor<?x?x?x?x?xf32> loc("g4")) -> tensor<?x?x?x?x?xf32> {
  %xp = inlay.permute %x dims [0, 2, 3, 4, 1] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %m = inlay.matmul %xp, %w : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %p = inlay.permute %m dims [0, 1, 3, 2, 4] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %gp0 = inlay.permute %g0 dims [3, 2, 1, 0, 4] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %q0 = inlay.add %p, %gp0 : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %gp1 = inlay.permute %g1 dims [2, 0, 1, 4, 3] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %q1 = inlay.add %q0, %gp1 : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %gp2 = inlay.permute %g2 dims [0, 1, 4, 2, 3] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %q2 = inlay.add %q1, %gp2 : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %gp3 = inlay.permute %g3 dims [1, 0, 3, 4, 2] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %q3 = inlay.add %q2, %gp3 : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %gp4 = inlay.permute %g4 dims [4, 2, 3, 1, 0] : (tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %q4 = inlay.add %q3, %gp4 : (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  return %q4 : tensor<?x?x?x?x?xf32>
}
}
