// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: a compiled program in one file. docs/container.md says what each byte of it means.

#ifndef INLAY_RUNTIME_CONTAINER_CONTAINER_H
#define INLAY_RUNTIME_CONTAINER_CONTAINER_H

#include "inlay/Runtime/Core/Plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// A range of bytes of the file.
struct ContainerSection {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// What a file says about itself.
struct ContainerInfo {
  uint16_t major = 0, minor = 0;         ///< version of the format
  std::string arch;                      ///< processor that the host code is for, "x86_64"; empty if there is none
  std::vector<std::string> requirements; ///< device features that any of the kernels needs, sorted
  std::string report;                    ///< the partition report, JSON; may be empty
  std::string metadata;                  ///< JSON of whoever saved it; may be empty
  std::vector<ContainerSection> sections;
};

/// The plan's constants lie in a private read-only mapping of the file, which they keep alive.
struct ContainerContents {
  std::shared_ptr<const Plan> plan;
  ContainerInfo info;
};

struct ContainerReadOptions {
  /// An Ed25519 public key in PEM. If there is one, FILE.sig must be its signature of the file, or nothing is decoded.
  /// Empty: what INLAY_PUBLIC_KEY names; if that is unset or empty, signatures aren't looked at.
  std::string publicKeyFile;
  uint64_t memoryLimit = 0; ///< bytes that may be allocated for all but the constants; 0 for 1 GiB
};

/// Reads a file that may be hostile: each number is checked before it is used and memory is limited before it is
/// allocated. The plan still has to pass `checkPlan`, as `Program::load` has it do. Host code in it is native code that
/// is run without limits: load it from those alone whom you trust, or ask for a signature.
///
/// The file must not be written in place while its plan is in use (replace it by renaming, as `writeContainer` does):
/// what is decoded or run is a copy of the bytes that were checked, but constants would change, and if the file became
/// shorter the process would get SIGBUS.
///
/// Errors: NotFound if a file isn't there or can't be opened; InvalidArgument for one of another version, processor or
/// byte order and for one that is damaged or not signed; ResourceExhausted if it needs more memory than the limit.
StatusOr<ContainerContents> readContainer(const std::string &path, const ContainerReadOptions &options = {});

/// Whether the file can be read and starts like a container.
bool isContainer(const std::string &path);

/// Whether a file says that it has kernels of a device, a hint from its first bytes alone: nothing of it is checked.
bool hasDeviceKernels(const std::string &path);

/// What is stored beside the plan and comes back in ContainerInfo.
struct ContainerExtras {
  std::string report, metadata;
};

struct ContainerWriteOptions {
  /// Name of a safetensors file, in the folder of the container, for the constants that have a key. Empty: they are
  /// stored in the container. If it is there with the same contents, it is kept.
  std::string weightsFile;
  /// Store a plan that calls the framework, which nobody can run who hasn't its callbacks.
  bool allowFramework = false;
  /// Replace a weights file that is there with other contents. Containers that name it fit it no more, and are refused.
  bool replaceWeights = false;
};

/// Writes to a temporary file, waits until it is on the disk, renames it and waits for that: whatever happens to the
/// machine, `path` is the old file or all of the new one, and the new one once this returns (where a weights file is
/// replaced, there is a moment in which the old container doesn't fit it, and is refused). The same plan and extras
/// give the same bytes. A signature of an older file stays and doesn't fit any more.
///
/// Errors: InvalidArgument for a plan that `checkPlan` refuses, for one with framework calls (the message lists them),
/// for a name of a weights file that isn't in the folder or that a file with other contents has; NotFound if a file
/// can't be written. Until all is written, what was there before is there still; a disk that fails while names change
/// may leave a new file beside an old one, which it is refused with.
Status writeContainer(const std::string &path, const Plan &plan, const ContainerExtras &extras,
                      const ContainerWriteOptions &options = {});

/// Writes FILE.sig: the signature of a container and of the weights file that it names by an Ed25519 private key, a PEM
/// file as `openssl genpkey -algorithm ed25519` makes it. The container must pass the checks of `readContainer` that
/// need no key.
Status signContainer(const std::string &path, const std::string &privateKeyFile);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CONTAINER_CONTAINER_H
