// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the profile with which passes choose kernels. The options that these passes share determine it.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
#define INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "mlir/IR/Operation.h"

namespace inlay {

/// Returns the profile of a device of this kind. `tuning` is empty or the text of a dictionary that overrides costs.
/// Emits an error at `op` and fails if it is malformed.
mlir::FailureOr<SubgroupProductProfile> makeProfile(mlir::Operation *op, int64_t subgroup, bool inSoftware, bool texels,
                                                    llvm::StringRef tuning);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
