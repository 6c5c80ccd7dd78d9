// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps unused blocks of earlier results up to a limit and lends them to new results.

#include "ResultMemory.h"
#include "HostBlock.h"

#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/LazyStatic.h"

#include <algorithm>
#include <vector>

namespace inlay::rt {

namespace {

/// A cache of unused blocks.
class IdleBlocks {
public:
  /// malloc caches smaller blocks itself.
  static constexpr size_t kMinBytes = size_t(128) << 10;
  static constexpr size_t kMaxBytes = size_t(256) << 20;

  /// Returns the smallest block that holds `bytes` and wastes less than a quarter, or null.
  HostBlock take(size_t &bytes) {
    blocks_.reserve(kMaxBytes / kMinBytes); // so that `give` can't fail
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
    if (bytes > kMaxBytes || blocks_.capacity() == 0)
      return;
    while (bytes_ + bytes > kMaxBytes) {
      bytes_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back({std::move(memory), bytes});
    bytes_ += bytes;
  }

  size_t bytes() const { return bytes_; }

private:
  struct Block {
    HostBlock memory;
    size_t bytes;
  };
  std::vector<Block> blocks_; ///< Oldest first.
  size_t bytes_ = 0;          ///< Sum over all blocks.
};

} // namespace

/// Returns the blocks of this process. They are never destroyed: results may be released while the process exits.
static SharedCache<IdleBlocks> &idleBlocks() {
  static LazyStatic<SharedCache<IdleBlocks>> blocks;
  return blocks.get();
}

StatusOr<std::shared_ptr<void>> allocateResult(size_t bytes) {
  constexpr size_t kPage = 4096, kWord = 4;
  size_t unit = bytes < IdleBlocks::kMinBytes ? kWord : kPage;
  if (bytes > SIZE_MAX - kPage)
    return Status(StatusCode::ResourceExhausted, "out of host memory");
  size_t size = (bytes + unit - 1) / unit * unit;
  HostBlock memory;
  if (size >= IdleBlocks::kMinBytes)
    memory = idleBlocks().use([&](IdleBlocks &idle) { return idle.take(size); });
  if (!memory) {
    StatusOr<HostBlock> made = allocateHostBlock(size);
    if (!made.isOk())
      return made.status();
    memory = std::move(*made);
  }
  return std::shared_ptr<void>(memory.release(), [size](void *data) {
    HostBlock block(data);
    if (size >= IdleBlocks::kMinBytes)
      idleBlocks().use([&](IdleBlocks &idle) { idle.give(std::move(block), size); });
  });
}

size_t idleResultBytes() {
  return idleBlocks().use([](const IdleBlocks &idle) { return idle.bytes(); });
}

} // namespace inlay::rt
