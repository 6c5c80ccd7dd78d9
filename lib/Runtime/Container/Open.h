// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a container once its frame, its hash and its weights file have been checked; nothing is decoded yet.

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
  std::string preamble; ///< a copy of all before the constants: what is checked is what is used
  Mapping constants;    ///< the rest of the file
  Mapping weights;      ///< all of the weights file, if there is one

  /// The bytes of a section other than the constants; empty if there is none.
  std::string_view bytes(const char *name) const;
};

/// Reads a file's frame, checks its hash and those of its weights file. The copy of the head is taken from `budget`.
StatusOr<MappedContainer> openContainer(const std::string &path, Budget &budget);

/// The same for a file's bytes, which start on a page and outlive the result. It may have no weights file.
StatusOr<MappedContainer> openImage(std::string_view image, Budget &budget);

/// What the opened container holds.
StatusOr<ContainerContents> decodeContainer(const MappedContainer &opened, Budget &budget);

/// Checks that FILE.sig is the signature of the opened FILE by the owner of the public key.
Status verifySignature(const std::string &path, const MappedContainer &opened, const std::string &publicKeyFile);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_OPEN_H
