// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants in a file beside the container: safetensors (github.com/huggingface/safetensors), so that other programs
// can read it too. The container has their offsets, and the file's length and hash.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H
#define INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H

#include "Hash.h"
#include "PlanWriter.h"

namespace inlay::rt {

/// The section "weights".
struct WeightsRecord {
  std::string name; ///< of the file, in the folder of the container
  uint64_t bytes = 0;
  Digest digest = {}; ///< of all of the file
};

std::string formatRecord(const WeightsRecord &record);
StatusOr<WeightsRecord> parseRecord(std::string_view section);

/// A safetensors file about to be written: its header, then the tensors' bytes.
struct WeightsLayout {
  std::string header;
  std::vector<std::string_view> tensors;
};

/// Lays out the constants that have a key, and says in `places` which these are and where. Tensors have no gaps, as
/// the format wants it; wide elements come first, so that each is aligned. Of constants with one key and other bytes
/// only the first is among them.
WeightsLayout layOutWeights(const Plan &plan, std::vector<ConstantPlace> &places);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H
