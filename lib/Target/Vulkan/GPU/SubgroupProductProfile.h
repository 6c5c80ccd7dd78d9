// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes choose kernels by, from the options that they have in common.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
#define INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "mlir/IR/Operation.h"

namespace inlay {

/// A device's profile by its kind, and by what `tuning`, the text of a dictionary or nothing, says of costs. Failure
/// with an error at `op` if it isn't such a text.
mlir::FailureOr<SubgroupProductProfile> makeProfile(mlir::Operation *op, int64_t subgroup, bool inSoftware, bool texels,
                                                    llvm::StringRef tuning);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
