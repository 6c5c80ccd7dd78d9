// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PipelineCache: the driver's pipeline cache and its file.

#ifndef INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H
#define INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "inlay/Runtime/Core/Status.h"

#include <mutex>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// Returns $XDG_CACHE_HOME/inlay or ~/.cache/inlay; empty if neither variable is set.
std::string cacheFolder();

/// Returns a file's payload if its frame (magic, length, hash) is intact, else nothing. Returns nothing for a missing
/// file too.
std::vector<char> readFramed(const std::string &path);

/// Writes frame and payload to a temporary file beside `path` and renames it. Creates the folder. Returns false on
/// failure.
bool writeFramed(const std::string &path, const std::vector<char> &payload);

/// A pipeline cache. It is only an optimization, so failures of its file are ignored.
class PipelineCache {
public:
  explicit PipelineCache(const DeviceTable &table) : table_(table) {}

  /// Opens the cache. `key` identifies the driver build.
  Status open(const std::string &key);
  /// Writes the file if the driver's data has changed. Thread-safe.
  void save();

  VkPipelineCache get() const { return cache_.get(); }

private:
  const DeviceTable &table_;
  PipelineCacheHandle cache_;
  std::string path_;
  std::mutex mutex_;
  std::vector<char> saved_; ///< Contents of the file; guarded by `mutex_` once open.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINECACHE_H
