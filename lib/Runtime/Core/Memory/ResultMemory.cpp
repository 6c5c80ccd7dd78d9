// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps unused blocks of earlier results up to a limit and lends them to new results.

#include "ResultMemory.h"
#include "HostBlock.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace inlay::rt {

namespace {

/// A cache of unused blocks. Thread-safe.
class IdleBlocks {
public:
  /// malloc caches smaller blocks itself.
  static constexpr size_t kMinBytes = size_t(128) << 10;
  static constexpr size_t kMaxBytes = size_t(256) << 20;

  static IdleBlocks &get() {
    static IdleBlocks &blocks = *new IdleBlocks(); // never destroyed: results may be released while the process exits
    return blocks;
  }

  /// Returns the smallest block that holds `bytes` and wastes less than a quarter, or null.
  HostBlock take(size_t &bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
      if (block->bytes >= bytes && block->bytes - bytes <= bytes / 4 &&
          (best == blocks_.end() || block->bytes <= best->bytes)) // of equal blocks the last: it may be in the caches
        best = block;
    if (best == blocks_.end())
      return nullptr;
    HostBlock memory = std::move(best->memory);
    bytes = best->bytes;
    bytes_ -= bytes;
    blocks_.erase(best);
    return memory;
  }

  /// Adds a block. Frees the oldest blocks if there are too many bytes.
  void give(HostBlock memory, size_t bytes) {
    if (bytes < kMinBytes || bytes > kMaxBytes)
      return;
    std::lock_guard<std::mutex> lock(mutex_);
    while (bytes_ + bytes > kMaxBytes) {
      bytes_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back({std::move(memory), bytes});
    bytes_ += bytes;
  }

  size_t bytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }

private:
  IdleBlocks() {
    blocks_.reserve(kMaxBytes / kMinBytes); // so that `give` can't fail
    pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); }, [] { get().mutex_.unlock(); });
  }

  struct Block {
    HostBlock memory;
    size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_; ///< Guarded by `mutex_`; oldest first.
  size_t bytes_ = 0;          ///< Guarded by `mutex_`; sum over all blocks.
};

} // namespace

StatusOr<std::shared_ptr<void>> allocateResult(size_t bytes) {
  constexpr size_t kPage = 4096, kWord = 4;
  size_t unit = bytes < IdleBlocks::kMinBytes ? kWord : kPage;
  if (bytes > SIZE_MAX - kPage)
    return Status(StatusCode::ResourceExhausted, "out of host memory");
  size_t size = (bytes + unit - 1) / unit * unit;
  HostBlock memory;
  if (size >= IdleBlocks::kMinBytes)
    memory = IdleBlocks::get().take(size);
  if (!memory) {
    StatusOr<HostBlock> made = allocateHostBlock(size);
    if (!made.isOk())
      return made.status();
    memory = std::move(*made);
  }
  return std::shared_ptr<void>(memory.release(), [size](void *data) { IdleBlocks::get().give(HostBlock(data), size); });
}

size_t idleResultBytes() { return IdleBlocks::get().bytes(); }

} // namespace inlay::rt
