// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the profile with which passes choose kernels. The options that these passes share determine it.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
#define INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "mlir/IR/Operation.h"

namespace inlay {

/// The options of a pass that describe a device.
struct ProfileOptions {
  int64_t subgroup;       ///< Invocations of a subgroup that can broadcast values; 0 if none can.
  bool arithmetic;        ///< True if a subgroup can add up values.
  bool inSoftware;        ///< True if a CPU runs the kernels.
  bool texels;            ///< True if texel buffers are read faster than storage buffers.
  llvm::StringRef tuning; ///< Empty, or the text of a dictionary that overrides costs.
};

/// Returns the profile of a device. Emits an error at `op` and fails if `options.tuning` is malformed.
mlir::FailureOr<SubgroupProductProfile> makeProfile(mlir::Operation *op, const ProfileOptions &options);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_SUBGROUPPRODUCTPROFILE_H
