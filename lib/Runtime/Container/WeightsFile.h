// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// WeightsFile: the weights file of a container that is being written. An existing file with the same contents is kept.
// One with other contents is replaced only on request, because other containers may name it too.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H
#define INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H

#include "File.h"
#include "Weights.h"

#include <optional>

namespace inlay::rt {

/// The tensors of the layout must outlive it.
class WeightsFile {
public:
  /// Prepares the file `name` in the folder of the container `path`. Writes it under a temporary name unless it exists
  /// with these contents. Fails if it exists with other contents and must not be replaced.
  static StatusOr<WeightsFile> prepare(const std::string &path, const std::string &name, WeightsLayout layout,
                                       bool mayReplace);

  const WeightsRecord &record() const { return record_; }
  /// Renames the written file to its name.
  Status commit();

private:
  StatusOr<bool> isThere() const;
  Status refuse() const;
  Status write();

  std::string path_; ///< Path of the container.
  WeightsLayout layout_;
  bool mayReplace_ = false;
  WeightsRecord record_;
  std::optional<OutputFile> output_; ///< Set if the file must be written.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H
