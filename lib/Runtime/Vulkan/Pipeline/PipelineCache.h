// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline cache and its file.

#ifndef INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H
#define INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "inlay/Runtime/Core/Status.h"

#include <mutex>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// $XDG_CACHE_HOME/inlay or ~/.cache/inlay; empty if neither variable is set.
std::string cacheFolder();

/// A file's payload if its frame (magic, length, hash) is whole, else nothing. A missing file is nothing too.
std::vector<char> readFramed(const std::string &path);

/// Writes payload and frame to a temporary file beside `path` and renames it; makes the folder. False if that failed.
bool writeFramed(const std::string &path, const std::vector<char> &payload);

/// A cache is an optimization: its file's failures are silent.
class PipelineCache {
public:
  explicit PipelineCache(const DeviceTable &table) : table_(table) {}

  /// `key` names the driver build.
  Status open(const std::string &key);
  /// Writes the file if the driver's data has changed. Thread-safe.
  void save();

  VkPipelineCache get() const { return cache_.get(); }

private:
  const DeviceTable &table_;
  PipelineCacheHandle cache_;
  std::string path_;
  std::mutex mutex_;
  std::vector<char> saved_; ///< what the file holds; guarded by `mutex_` once open
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H
