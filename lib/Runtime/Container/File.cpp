// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, maps and writes files safely: regular files only, temporary names, and data on the disk before a rename. It
// knows no format; Read.cpp and Write.cpp know the container.

#include "File.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace inlay::rt {

static constexpr const char *kNoRegularFile = "a pipe, a socket or a device";

static std::string systemError() { return std::strerror(errno); }

/// Returns the code for the error in errno. `otherwise` is the code if nothing was exhausted.
static StatusCode systemCode(StatusCode otherwise) {
  for (int exhausted : {ENOMEM, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE})
    if (errno == exhausted)
      return StatusCode::ResourceExhausted;
  return otherwise;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

//===-- InputFile -----------------------------------------------------------------------------------------------===//

/// Takes ownership of a descriptor. A negative descriptor means that opening failed with the error in errno.
StatusOr<InputFile> InputFile::adopt(int descriptor) {
  if (descriptor < 0)
    return Status(systemCode(StatusCode::NotFound), fmt::format("can't be opened: {}", systemError()));
  InputFile file;
  file.descriptor_ = std::shared_ptr<const int>(new int(descriptor), [](const int *opened) {
    close(*opened);
    delete opened;
  });
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0)
    return Status(systemCode(StatusCode::NotFound), fmt::format("can't be examined: {}", systemError()));
  if (S_ISDIR(facts.st_mode))
    return Status(StatusCode::InvalidArgument, "is a directory");
  if (!S_ISREG(facts.st_mode))
    return Status(StatusCode::InvalidArgument, fmt::format("expected a regular file, but got {}", kNoRegularFile));
  file.size_ = static_cast<uint64_t>(facts.st_size);
  return file;
}

StatusOr<InputFile> InputFile::open(const std::string &path) {
  return adopt(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // doesn't block on a pipe without a writer
}

/// Returns the path without links, or an empty string with the error in errno if there is no such file.
static std::string resolve(const std::string &path) {
  std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : "";
}

StatusOr<InputFile> InputFile::openBeside(const std::string &path, const std::string &name) {
  if (!isPlainName(name))
    return Status(StatusCode::InvalidArgument, "expected the name of a file in the container's folder");
  std::string folder = resolve(folderOf(path)), file = folder.empty() ? "" : resolve(folder + "/" + name);
  if (file.empty())
    return Status(systemCode(StatusCode::NotFound), fmt::format("can't be opened: {}", systemError()));
  if (folderOf(file) != folder)
    return Status(StatusCode::InvalidArgument, "is a link that leads out of the container's folder");
  // The file may have been replaced by a link since. That link is not followed.
  return adopt(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

/// Returns true if `error` of fsync means that the file system does not support it.
static bool isUnsupported(int error) { return error == EINVAL || error == ENOTSUP || error == EROFS; }

/// Waits until the data is on the disk. Returns false with the error in errno.
static bool bringToDisk(int descriptor) { return fsync(descriptor) == 0 || isUnsupported(errno); }

Status InputFile::sync() const {
  if (bringToDisk(*descriptor_))
    return Status::ok();
  return {systemCode(StatusCode::NotFound), fmt::format("can't be flushed to the disk: {}", systemError())};
}

Status InputFile::read(uint64_t offset, char *to, size_t bytes) const {
  while (bytes > 0) {
    ssize_t count = pread(*descriptor_, to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return {systemCode(StatusCode::NotFound), fmt::format("can't be read: {}", systemError())};
    if (count == 0)
      return {StatusCode::InvalidArgument, "became shorter while it was read"};
    to += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return Status::ok();
}

StatusOr<Mapping> InputFile::mapFrom(uint64_t offset) const {
  // A page of this system may be larger than the container's page size.
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), start = offset / page * page;
  if (offset >= size_)
    return Mapping();
  size_t length = size_ - start;
  void *data = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, *descriptor_, static_cast<off_t>(start));
  if (data == MAP_FAILED)
    return Status(StatusCode::ResourceExhausted, fmt::format("can't be mapped: {}", systemError()));
  Mapping mapping;
  mapping.owner =
      std::shared_ptr<const void>(data, [length](const void *mapped) { munmap(const_cast<void *>(mapped), length); });
  mapping.bytes = {static_cast<const char *>(data) + (offset - start), size_ - offset};
  struct stat facts = {};
  if (fstat(*descriptor_, &facts) != 0 || static_cast<uint64_t>(facts.st_size) != size_)
    return Status(StatusCode::InvalidArgument, "changed its size while it was read");
  madvise(data, length, MADV_WILLNEED);
  return mapping;
}

//===-- OutputFile ----------------------------------------------------------------------------------------------===//

/// Returns the file that a chain of links leads to, which need not exist. Returns an empty string with the error in
/// errno if there is no end.
static std::string followLinks(std::string path) {
  constexpr int kMaxLinks = 40;                      // as many as Linux follows
  for (int links = 0; links <= kMaxLinks; ++links) { // the last one only finds that there are no more links
    std::array<char, PATH_MAX> target;
    ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length < 0) // no link, or no file
      return path;
    std::string_view next(target.data(), static_cast<size_t>(length));
    path = next.substr(0, 1) == "/" ? std::string(next) : folderOf(path) + "/" + std::string(next);
  }
  errno = ELOOP;
  return "";
}

/// Gives the temporary file the owner and the permissions of the file that it will replace.
Status OutputFile::copyPermissions(const struct stat &old) const {
  struct stat facts = {};
  if (fstat(descriptor_, &facts) != 0)
    return failed();
  mode_t mode = old.st_mode & 0777;
  bool isOther = old.st_uid != facts.st_uid || old.st_gid != facts.st_gid;
  if (isOther && fchown(descriptor_, old.st_uid, old.st_gid) != 0 && old.st_gid != facts.st_gid)
    mode &= ~mode_t(070); // the permissions were for another group
  return fchmod(descriptor_, mode) == 0 ? Status::ok() : failed();
}

StatusOr<OutputFile> OutputFile::create(const std::string &path, OnLink onLink) {
  static std::atomic<unsigned> count{0};
  OutputFile file;
  file.path_ = path;
  file.target_ = onLink == OnLink::Follow ? followLinks(path) : path;
  if (file.target_.empty())
    return file.failed();
  struct stat facts = {};
  bool exists = stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) { // otherwise only the rename would fail, after everything is written
    errno = EISDIR;
    return file.failed();
  }
  if (exists && !S_ISREG(facts.st_mode)) // a rename would replace it by a file
    return Status(StatusCode::InvalidArgument,
                  fmt::format("'{}' can't be written: expected a regular file, but got {}", path, kNoRegularFile));
  for (int attempt = 0; attempt < 100 && file.descriptor_ < 0; ++attempt) { // the name may already exist
    file.temporary_ = fmt::format("{}.{}-{}.tmp", file.target_, getpid(), count++);
    file.descriptor_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0600 : 0666);
    if (file.descriptor_ < 0 && errno != EEXIST)
      break;
  }
  if (file.descriptor_ < 0) {
    Status status = file.failed();
    file.temporary_.clear(); // the file belongs to another process
    return status;
  }
  if (exists)
    INLAY_RETURN_IF_ERROR(file.copyPermissions(facts));
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path_(std::move(other.path_)), target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, "")),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
  if (!temporary_.empty())
    unlink(temporary_.c_str());
}

Status OutputFile::failed() const {
  return {systemCode(StatusCode::NotFound), fmt::format("'{}' can't be written: {}", path_, systemError())};
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failed();
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status::ok();
}

Status OutputFile::finish() {
  if (descriptor_ < 0)
    return Status::ok();
  if (!bringToDisk(descriptor_))
    return failed();
  return close(std::exchange(descriptor_, -1)) == 0 ? Status::ok() : failed();
}

/// Waits until the names in the folder are on the disk. Does nothing if the folder can't be opened: a process may have
/// the right to write to a folder but not to read it.
Status OutputFile::syncFolder() const {
  int folder = ::open(folderOf(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return Status::ok();
  Status status = bringToDisk(folder) ? Status::ok() : failed();
  close(folder);
  return status;
}

Status OutputFile::commit() {
  INLAY_RETURN_IF_ERROR(finish());
  if (rename(temporary_.c_str(), target_.c_str()) != 0)
    return failed();
  temporary_.clear();
  return syncFolder();
}

/// Renames a file unless `to` exists. If the file system can't do that atomically, it takes two steps.
static int renameNew(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  struct stat facts = {};
  if (lstat(to, &facts) != 0)
    return rename(from, to);
  errno = EEXIST;
  return -1;
}

StatusOr<bool> OutputFile::commitNew() {
  INLAY_RETURN_IF_ERROR(finish());
  if (renameNew(temporary_.c_str(), target_.c_str()) != 0)
    return errno == EEXIST ? StatusOr<bool>(false) : failed();
  temporary_.clear();
  INLAY_RETURN_IF_ERROR(syncFolder());
  return true;
}

} // namespace inlay::rt
