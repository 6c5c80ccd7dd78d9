// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Import phase.

#ifndef INLAY_IMPORT_PASSES_TD
#define INLAY_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportVerifyPass : Pass<"inlay-import-verify", "::mlir::ModuleOp"> {
  let summary = "Check that an imported graph is complete";
  let description = [{
    Every constant that names a resource must have data of the size that its type needs.

    ```mlir
    %w = inlay.constant dense_resource<w> : tensor<2xf32>
    ```
    without data for `w` is an error.
  }];
}

#endif // INLAY_IMPORT_PASSES_TD
