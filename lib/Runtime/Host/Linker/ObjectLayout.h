// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ObjectLayout: the layout of an object in memory. Code and stubs come first, then read-only data and the table of
// addresses, then writable data. Each of the three starts on a page.

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H

#include "ElfObject.h"

#include <unordered_map>

namespace inlay::rt::host {

/// Offsets and sizes in bytes.
struct ObjectLayout {
  std::vector<uint64_t> sections;                        ///< Offset by section number, for loaded sections.
  std::unordered_map<uint32_t, uint64_t> stubs;          ///< Offset by symbol, for external symbols that are called.
  std::unordered_map<uint32_t, uint64_t> addresses;      ///< Offset by symbol, of the word that holds its address.
  uint64_t codeSize = 0, constantSize = 0, dataSize = 0; ///< Multiples of the page size.
  uint64_t size() const { return codeSize + constantSize + dataSize; }
};

/// Lays out an object. The size is limited to 1 GiB, so that all parts can reach each other. Fails for larger objects
/// and for unknown types of relocations.
StatusOr<ObjectLayout> layOut(const ElfObject &object, uint64_t pageSize);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_OBJECTLAYOUT_H
