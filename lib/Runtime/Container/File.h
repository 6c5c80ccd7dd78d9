// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files: regular files that are read or mapped, and files that are written under a temporary name first.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_FILE_H
#define INLAY_LIB_RUNTIME_CONTAINER_FILE_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace inlay::rt {

/// Bytes of a file, private and read-only.
struct Mapping {
  std::string_view bytes;
  std::shared_ptr<const void> owner; ///< Its destructor unmaps the bytes.
};

/// A regular file that is open for reading. Error messages give the fault but not the file's name.
class InputFile {
public:
  static StatusOr<InputFile> open(const std::string &path);
  /// Opens the file `name` in the folder of `path`. `name` must have no separators. If it is a link, it must lead to a
  /// file in the same folder.
  static StatusOr<InputFile> openBeside(const std::string &path, const std::string &name);

  uint64_t size() const { return size_; }
  /// Waits until the file's bytes are on the disk, if the file system supports that.
  Status sync() const;
  Status read(uint64_t offset, char *to, size_t bytes) const;
  /// Maps from `offset`, a multiple of 4096, to the end. Fails if the size of the file has changed.
  StatusOr<Mapping> mapFrom(uint64_t offset) const;

private:
  static StatusOr<InputFile> adopt(int descriptor);
  std::shared_ptr<const int> descriptor_; ///< Its destructor closes the descriptor.
  uint64_t size_ = 0;
};

/// The file that is replaced if its name is a link: the one that the link leads to, or the link.
enum class OnLink : uint8_t { Follow, Replace };

/// A file that gets its name when it is committed. If it is not committed, nothing remains. After a crash the name
/// refers to the old file or to the complete new one.
class OutputFile {
public:
  /// Creates the temporary file. An existing file keeps its permissions. If `path` is a link, the file that it leads to
  /// is replaced, or the link itself.
  static StatusOr<OutputFile> create(const std::string &path, OnLink onLink = OnLink::Follow);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  /// Waits until all data is on the disk. The file does not have its name yet.
  Status finish();
  /// Calls `finish`, renames the file to its name, which replaces an existing file, and waits until that is on the
  /// disk.
  Status commit();
  /// Like `commit`, but returns false and keeps the existing file if the name is taken.
  StatusOr<bool> commitNew();

private:
  OutputFile() = default;
  Status failed() const;
  Status syncFolder() const;
  Status copyPermissions(const struct stat &old) const;

  std::string path_;      ///< For messages.
  std::string target_;    ///< The file that gets the contents: `path_` without links.
  std::string temporary_; ///< Empty if there is no temporary file.
  int descriptor_ = -1;
};

/// Returns the folder part of a path: "." if it has none.
std::string folderOf(const std::string &path);

/// Returns true if `name` can name a file in a folder: no separator, not "." or "..", no zero byte.
bool isPlainName(const std::string &name);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_FILE_H
