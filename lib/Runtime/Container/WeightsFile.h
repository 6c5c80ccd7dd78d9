// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights file that a container which is being written names: kept where it is there already, and replaced only
// where that is asked for, since other containers may name it too.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H
#define INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H

#include "File.h"
#include "Weights.h"

#include <optional>

namespace inlay::rt {

/// The layout's tensors must outlive it.
class WeightsFile {
public:
  /// Of the file `name` in the folder of the container `path`. Writes all of it under another name, unless it is there
  /// with these contents. An error if it is there with others and isn't to be replaced.
  static StatusOr<WeightsFile> prepare(const std::string &path, const std::string &name, WeightsLayout layout,
                                       bool mayReplace);

  const WeightsRecord &record() const { return record_; }
  /// Gives what was written its name.
  Status commit();

private:
  StatusOr<bool> isThere() const;
  Status refuse() const;
  Status write();

  std::string path_; ///< of the container
  WeightsLayout layout_;
  bool mayReplace_ = false;
  WeightsRecord record_;
  std::optional<OutputFile> output_; ///< if it is to be written
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_WEIGHTSFILE_H
