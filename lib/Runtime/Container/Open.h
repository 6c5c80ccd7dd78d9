// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MappedContainer: the parts of a container whose header, section table, hash and weights file have been checked,
// before anything is decoded.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_OPEN_H
#define INLAY_LIB_RUNTIME_CONTAINER_OPEN_H

#include "File.h"
#include "Layout.h"
#include "PlanReader.h"
#include "inlay/Runtime/Container/Container.h"

namespace inlay::rt {

struct MappedContainer {
  Header header;
  std::vector<Section> sections;
  std::string preamble; ///< A copy of everything before the constants, so that the checked bytes can't change.
  Mapping constants;    ///< The rest of the file.
  Mapping weights;      ///< The whole weights file, if there is one.

  /// Returns the bytes of a section other than the constants; empty if it is missing.
  std::string_view bytes(const char *name) const;
};

/// Reads a file's header and section table, and checks its hash and that of its weights file. The memory for the copy
/// of the preamble is taken from `budget`.
StatusOr<MappedContainer> openContainer(const std::string &path, Budget &budget);

/// Opens a container in memory. `image` starts on a page and outlives the result. It may not have a weights file.
StatusOr<MappedContainer> openImage(std::string_view image, Budget &budget);

/// Decodes the contents of an opened container.
StatusOr<ContainerContents> decodeContainer(const MappedContainer &opened, Budget &budget);

/// Checks that FILE.sig is a signature of the opened FILE that the public key verifies.
Status verifySignature(const std::string &path, const MappedContainer &opened, const std::string &publicKeyFile);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_OPEN_H
