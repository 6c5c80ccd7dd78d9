// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: a compiled program in one file. docs/container.md describes the format byte by byte.

#ifndef INLAY_RUNTIME_CONTAINER_CONTAINER_H
#define INLAY_RUNTIME_CONTAINER_CONTAINER_H

#include "inlay/Runtime/Core/Budget.h"
#include "inlay/Runtime/Core/Plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// A range of bytes in the file.
struct ContainerSection {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// The contents of a file besides its plan.
struct ContainerInfo {
  uint16_t major = 0, minor = 0;         ///< Version of the format.
  std::string arch;                      ///< Processor of the host code, "x86_64"; empty if there is no host code.
  std::vector<std::string> requirements; ///< Device features that any of the kernels needs, sorted.
  std::string report;                    ///< The partition report, JSON; may be empty.
  std::string metadata;                  ///< JSON that the caller of `writeContainer` added; may be empty.
  std::vector<ContainerSection> sections;
};

/// A decoded container. The plan's constants lie in a private read-only mapping of the file and keep it alive.
struct ContainerContents {
  std::shared_ptr<const Plan> plan;
  ContainerInfo info;
};

struct ContainerReadOptions {
  /// Path of an Ed25519 public key in PEM. If it is set, FILE.sig must be a signature of the file that this key
  /// verifies. The signature is verified before anything is decoded. If it is empty, the environment variable
  /// INLAY_PUBLIC_KEY is used; if that is unset too, signatures are ignored.
  std::string publicKeyFile;
  /// Bytes that may be allocated for everything but the constants. 0 means the default of Budget.h.
  uint64_t memoryLimit = 0;
  Budget *budget = nullptr; ///< If not null, memory is taken from it, and `memoryLimit` has no effect.
};

/// Reads a container. The file may be hostile: each number is checked before it is used, and memory is limited before
/// it is allocated. The plan must still pass `checkPlan`, which `Program::load` calls. Host code is native code that
/// runs without limits: load it only from sources that you trust, or require a signature.
///
/// The file must not be written in place while its plan is in use. Replace it by renaming, as `writeContainer` does.
/// Everything but the constants is a copy of the bytes that were checked. The constants are mapped: they would change
/// with the file, and if the file became shorter the process would get SIGBUS.
///
/// Errors: NotFound if a file does not exist or can't be opened. InvalidArgument if the file has another version,
/// processor or byte order, is damaged, or lacks a required signature. ResourceExhausted if it needs more memory than
/// the limit.
StatusOr<ContainerContents> readContainer(const std::string &path, const ContainerReadOptions &options = {});

/// Returns true if the file can be read and starts like a container.
bool isContainer(const std::string &path);

/// Returns true if the file's section table lists device kernels. This is a hint: the file's hash is not checked.
bool hasDeviceKernels(const std::string &path);

/// Data that is stored beside the plan and returned in ContainerInfo.
struct ContainerExtras {
  std::string report, metadata;
};

struct ContainerWriteOptions {
  /// Name of a safetensors file, in the folder of the container, for the constants that have a key. If it is empty,
  /// they are stored in the container. An existing file with the same contents is kept.
  std::string weightsFile;
  /// Stores a plan even if it calls the framework. Such a plan can run only where its callbacks are provided.
  bool allowFramework = false;
  /// Replaces an existing weights file that has other contents. Other containers that name it are refused from then on.
  bool replaceWeights = false;
};

/// Writes a container. The data goes to a temporary file, which is flushed to the disk and then renamed; the rename is
/// flushed too. After a crash `path` is therefore the old file or the complete new one, and the new one once this
/// function has returned. If a weights file is replaced, there is a moment in which the old container does not match it
/// and is refused. The same plan and extras give the same bytes. The signature of an older file is kept, but no longer
/// matches.
///
/// Errors: InvalidArgument for a plan that `checkPlan` refuses, for a plan with framework calls (the message lists
/// them), and for a weights file that is not in the folder or exists with other contents. NotFound if a file can't be
/// written. Until everything is written the old files are unchanged. A disk that fails during the renames may leave a
/// new file beside an old one; that pair is refused.
Status writeContainer(const std::string &path, const Plan &plan, const ContainerExtras &extras,
                      const ContainerWriteOptions &options = {});

/// Writes FILE.sig: a signature of a container and of the weights file that it names, made with an Ed25519 private key.
/// The key is a PEM file as `openssl genpkey -algorithm ed25519` writes it. The container must pass all checks of
/// `readContainer` except that of the signature.
Status signContainer(const std::string &path, const std::string &privateKeyFile);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CONTAINER_CONTAINER_H
