// The plugin runs the whole partition phase on tosa in upstream's driver: options, report, merging, checking, inlining.
// DEFINE: %{plugin} = mlir-opt --load-dialect-plugin=%inlay_libs/InlayPlugin.so --load-pass-plugin=%inlay_libs/InlayPlugin.so
// RUN: %{plugin} %s --pass-pipeline="builtin.module(inlay-partition{min-block-size=2 report=%t.json})" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: %{plugin} %t.mlir --pass-pipeline="builtin.module(inlay-partition-verify,inlay-partition-report{format=table})" \
// RUN:   -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: %{plugin} %t.mlir --pass-pipeline="builtin.module(inlay-partition-merge-segments,inlay-partition-inline-segments)" \
// RUN:   | FileCheck %s --check-prefix=BACK

// Errors are those of inlay-opt.
// RUN: not %{plugin} %s --pass-pipeline="builtin.module(inlay-partition{min-blok-size=2})" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTION
// OPTION: inlay-partition has no option 'min-blok-size'; did you mean 'min-block-size'?
// RUN: not %{plugin} %s --pass-pipeline="builtin.module(inlay-partition{fallback-ops=tosa.ad})" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// NAME: error: {{.*}}tosa.ad
// RUN: sed 's/#inlay.declared<"cpu".*/#inlay.cpu]} {/' %s > %t-target.mlir
// RUN: not %{plugin} %t-target.mlir --pass-pipeline="builtin.module(inlay-partition)" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}unknown attribute `cpu` in dialect `inlay`

// The plugin also has the targets: this module is converted for the host.
// RUN: %{plugin} %S/Inputs/relu.mlir -o - --pass-pipeline="builtin.module(inlay-partition,inlay-shape-infer,inlay-convert-outline-segments,inlay-convert-segments,inlay-stitch-assemble-program)" \
// RUN:   | FileCheck %s --check-prefix=HOST
// HOST: plan.call @forward_0

module attributes {inlay.targets = [#inlay.declared<"npu", ["tosa.matmul", "tosa.add"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  // CHECK-LABEL: func.func @forward
  // CHECK: inlay.segment #inlay.declared<"npu"
  // CHECK: tosa.matmul
  // CHECK: tosa.add
  // CHECK: inlay.segment #inlay.declared<"cpu"
  // CHECK: tosa.exp
  // CHECK: tosa.add {{.*}}"min-block-size"
  // CHECK-NOT: inlay.segment
  // REPORT: "function": "forward"
  // REPORT: "min-block-size"
  // TEXT: forward
  // TEXT: npu {{.*}} tosa.matmul#{{[0-9]+}} tosa.add#
  // TEXT: cpu {{.*}} tosa.exp#{{[0-9]+}} tosa.add#
  // BACK-LABEL: func.func @forward
  // BACK-NOT: inlay.segment
  // BACK: tosa.matmul
  // BACK-NEXT: tosa.add
  // BACK-NEXT: tosa.exp
  // BACK-NEXT: tosa.add
  // BACK-NEXT: return
  func.func @forward(%x: tensor<1x4x8xf32>, %w: tensor<1x8x8xf32>) -> tensor<1x4x8xf32> {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.matmul %x, %w, %zero, %zero
      : (tensor<1x4x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8xf32>
    %1 = tosa.add %0, %x : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %2 = tosa.exp %1 : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %3 = tosa.add %2, %x : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    return %3 : tensor<1x4x8xf32>
  }
}
