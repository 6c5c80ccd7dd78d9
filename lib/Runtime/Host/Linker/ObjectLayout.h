// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the parts of an object go in memory: code and its stubs, what is only read and the table of addresses, then
// what is written; each of these starts a page.

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H

#include "ElfObject.h"

#include <unordered_map>

namespace inlay::rt::host {

/// Offsets and sizes in bytes.
struct ObjectLayout {
  std::vector<uint64_t> sections;                        ///< by number; of loaded ones
  std::unordered_map<uint32_t, uint64_t> stubs;          ///< by symbol: of those outside that are called
  std::unordered_map<uint32_t, uint64_t> addresses;      ///< by symbol: the words that hold their addresses
  uint64_t codeSize = 0, constantSize = 0, dataSize = 0; ///< whole pages
  uint64_t size() const { return codeSize + constantSize + dataSize; }
};

/// At most 1 GiB, so that any part reaches any other; an error if there is more, or a type of relocation is unknown.
StatusOr<ObjectLayout> layOut(const ElfObject &object, uint64_t pageSize);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H
