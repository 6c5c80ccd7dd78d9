// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants in a weights file beside the container. The file is in the safetensors format
// (github.com/huggingface/safetensors), so other programs can read it too. The container stores the constants' offsets
// and the file's length and hash.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H
#define INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H

#include "Hash.h"
#include "PlanWriter.h"

namespace inlay::rt {

/// The contents of the section "weights".
struct WeightsRecord {
  std::string name; ///< Name of the file, which is in the folder of the container.
  uint64_t bytes = 0;
  Digest digest = {}; ///< Hash of the whole file.
};

std::string formatRecord(const WeightsRecord &record);
StatusOr<WeightsRecord> parseRecord(std::string_view section);

/// The parts of a safetensors file: its header, then the tensors' bytes.
struct WeightsLayout {
  std::string header;
  std::vector<std::string_view> tensors;
};

/// Lays out the constants that have a key and sets their elements of `places`. The format requires tensors without
/// gaps; wide elements come first, so that all are aligned. If constants have the same key but different bytes, only
/// the first goes into the file.
WeightsLayout layOutWeights(const Plan &plan, std::vector<ConstantPlace> &places);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_WEIGHTS_H
