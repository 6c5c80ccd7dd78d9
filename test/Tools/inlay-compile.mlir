// A compilation can stop after any phase and continue from there. The result has the same bytes.

// RUN: rm -rf %t && mkdir -p %t
// RUN: inlay-compile %s -o %t/whole.mlir
// RUN: inlay-compile %s --to=import -o %t/0.mlir
// RUN: inlay-compile %t/0.mlir --from=rewrite --to=rewrite -o %t/1.mlir
// RUN: inlay-compile %t/1.mlir --from=partition --to=partition -o %t/2.mlir
// RUN: inlay-compile %t/2.mlir --from=shape --to=shape -o %t/3.mlir
// RUN: inlay-compile %t/3.mlir --from=convert --to=convert -o %t/4.mlir
// RUN: inlay-compile %t/4.mlir --from=stitch --to=stitch -o %t/5.mlir
// RUN: cmp %t/whole.mlir %t/5.mlir
// RUN: inlay-compile %t/5.mlir --from=stitch -o %t/6.mlir && cmp %t/5.mlir %t/6.mlir

// RUN: FileCheck %s --check-prefix=IMPORT --input-file=%t/0.mlir
// RUN: FileCheck %s --check-prefix=REWRITE --input-file=%t/1.mlir
// RUN: FileCheck %s --check-prefix=PARTITION --input-file=%t/2.mlir
// RUN: FileCheck %s --check-prefix=CONVERT --input-file=%t/4.mlir
// RUN: FileCheck %s --check-prefix=STITCH --input-file=%t/5.mlir
// RUN: inlay-compile --to=import - <%s | FileCheck %s --check-prefix=IMPORT

// inlay-run can continue from each phase.
// RUN: inlay-run %s --output=%t/whole.npy
// RUN: inlay-run %t/0.mlir --from=rewrite --output=%t/0.npy && cmp %t/whole.npy %t/0.npy
// RUN: inlay-run %t/1.mlir --from=partition --output=%t/1.npy && cmp %t/whole.npy %t/1.npy
// RUN: inlay-run %t/2.mlir --from=shape --output=%t/2.npy && cmp %t/whole.npy %t/2.npy
// RUN: inlay-run %t/3.mlir --from=convert --output=%t/3.npy && cmp %t/whole.npy %t/3.npy
// RUN: inlay-run %t/4.mlir --from=stitch --output=%t/4.npy && cmp %t/whole.npy %t/4.npy
// RUN: inlay-run %t/5.mlir --from=stitch --output=%t/5.npy && cmp %t/whole.npy %t/5.npy

// --dump-dir writes the module after each phase.
// RUN: inlay-compile %s --dump-dir=%t/new/dumps -o %t/again.mlir
// RUN: ls %t/new/dumps | FileCheck %s --check-prefix=DUMPS
// DUMPS:      00-import.mlir
// DUMPS-NEXT: 01-rewrite.mlir
// DUMPS-NEXT: 02-partition.mlir
// DUMPS-NEXT: 03-shape.mlir
// DUMPS-NEXT: 04-convert.mlir
// DUMPS-NEXT: 05-stitch.mlir
// RUN: cmp %t/new/dumps/05-stitch.mlir %t/whole.mlir
// RUN: inlay-compile %s --from=partition --to=shape --dump-dir=%t/some >%t/some.mlir
// RUN: cmp %t/some.mlir %t/some/03-shape.mlir
// RUN: ls %t/some | FileCheck %s --check-prefix=SOME
// SOME:      02-partition.mlir
// SOME-NEXT: 03-shape.mlir
// SOME-NOT:  mlir

// Rewrite merges the two equal additions.
// IMPORT-LABEL: func.func public @forward
// IMPORT-COUNT-2: inlay.add
// REWRITE-LABEL: func.func public @forward
// REWRITE:     inlay.add
// REWRITE-NOT: inlay.add
// PARTITION:   inlay.segment #inlay.{{host|vulkan}}
// CONVERT:     plan.invoke @forward_0
// CONVERT-NOT: inlay.segment
// STITCH:      plan.program @forward
// STITCH-NOT:  func.func
func.func public @forward(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = inlay.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = inlay.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = inlay.mul %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = inlay.lgamma %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
