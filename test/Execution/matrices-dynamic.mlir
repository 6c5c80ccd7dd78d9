// REQUIRES: newer-lavapipe
// DEFINE: %{m} =
// DEFINE: %{k} =
// DEFINE: %{n} =
// DEFINE: %{s} =
// DEFINE: %{run} = %newer-lavapipe inlay-run %s --require-full-compilation --require-device --compare \
// DEFINE:   --input-shape=a:m=1..200xk=1..300 --input-shape=b:k=1..300xn=1..90 --input-shape=x:s=1..4x13x96 \
// DEFINE:   --size=m=%{m} --size=k=%{k} --size=n=%{n} --size=s=%{s} | FileCheck %s
// RUN: inlay-compile %s -o %t.inlay --input-shape=a:m=1..200xk=1..300 --input-shape=b:k=1..300xn=1..90 --input-shape=x:s=1..4x13x96
// RUN: inlay-run --describe %t.inlay | FileCheck %s --check-prefix=NEEDS
// NEEDS: cooperative-matrix=8x8x8xf16xf32
// REDEFINE: %{m} = 37
// REDEFINE: %{k} = 131
// REDEFINE: %{n} = 23
// REDEFINE: %{s} = 3
// RUN: %{run}
// REDEFINE: %{m} = 1
// REDEFINE: %{k} = 1
// REDEFINE: %{n} = 1
// REDEFINE: %{s} = 1
// RUN: %{run}
// REDEFINE: %{m} = 200
// REDEFINE: %{k} = 300
// REDEFINE: %{n} = 90
// REDEFINE: %{s} = 4
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-4]\.[0-9]e-04|[0-9.]+e-(0[5-9]|[1-9][0-9]))}} of the largest element

// Cooperative-matrix products with sizes that are known only at a call: rows, columns and the sum, and rows of a batch.

module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, max_workgroup_invocations = 256,
    max_workgroup_memory = 32768, features = ["float16", "subgroup-broadcast"], kind = "discrete",
    matrices = ["8x8x8xf16xf32"]>, #inlay.host]} {
func.func public @forward(%a: tensor<?x?xf16> loc("a"), %b: tensor<?x?xf16> loc("b"), %x: tensor<?x13x96xf16> loc("x"),
    %w: tensor<72x96xf16> loc("w"), %c: tensor<72xf16> loc("c")) -> (tensor<?x?xf16>, tensor<?x13x72xf16>) {
  %0 = inlay.matmul %a, %b : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
  %1 = inlay.linear %x, %w, %c : (tensor<?x13x96xf16>, tensor<72x96xf16>, tensor<72xf16>) -> tensor<?x13x72xf16>
  %2 = inlay.relu %1 : (tensor<?x13x72xf16>) -> tensor<?x13x72xf16>
  return %0, %2 : tensor<?x?xf16>, tensor<?x13x72xf16>
}
}
