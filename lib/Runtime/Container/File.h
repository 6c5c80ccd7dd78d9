// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files: read and mapped if they are regular ones, written under another name first.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_FILE_H
#define INLAY_LIB_RUNTIME_CONTAINER_FILE_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace inlay::rt {

/// Bytes of a file, private and read-only.
struct Mapping {
  std::string_view bytes;
  std::shared_ptr<const void> owner; ///< unmaps when it goes
};

/// A regular file, open for reading. Errors name what is wrong, not the file.
class InputFile {
public:
  static StatusOr<InputFile> open(const std::string &path);
  /// Opens the file `name`, which must have no separators, of the folder that `path` lies in. If it is a link, it must
  /// lead to a file of the same folder.
  static StatusOr<InputFile> openBeside(const std::string &path, const std::string &name);

  uint64_t size() const { return size_; }
  /// Waits until its bytes are on the disk, as far as the file system can.
  Status sync() const;
  Status read(uint64_t offset, char *to, size_t bytes) const;
  /// Maps from `offset`, a multiple of 4096, to the end. An error if the file has another size by then.
  StatusOr<Mapping> mapFrom(uint64_t offset) const;

private:
  static StatusOr<InputFile> adopt(int descriptor);
  std::shared_ptr<const int> descriptor_; ///< closes when it goes
  uint64_t size_ = 0;
};

/// A file that appears under its name when it is committed, and leaves nothing behind if it isn't. Whatever happens to
/// the machine, what has the name is the old file or all of the new one.
class OutputFile {
public:
  static StatusOr<OutputFile> create(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  /// Waits until all of it is on the disk; it hasn't its name yet.
  Status finish();
  /// Finishes it, gives it its name, in place of what has it, and waits until that is on the disk.
  Status commit();
  /// The same, but false, and the other stays, if something has the name.
  StatusOr<bool> commitNew();

private:
  OutputFile() = default;
  Status failed() const;
  Status syncFolder() const;

  std::string path_, temporary_; ///< the latter is empty once there is no such file
  int descriptor_ = -1;
};

/// The folder part of a path: "." if it has none.
std::string folderOf(const std::string &path);

/// Whether a name is that of a file in a folder: no separator, not "." or "..", no zero.
bool isPlainName(const std::string &name);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_FILE_H
