// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a weights file, or keeps one with the same contents. Weights.cpp lays out the contents.

#include "WeightsFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>

namespace inlay::rt {

static std::vector<std::string_view> partsOf(const WeightsLayout &layout) {
  std::vector<std::string_view> parts = {layout.header};
  parts.insert(parts.end(), layout.tensors.begin(), layout.tensors.end());
  return parts;
}

/// Returns true if a file has these bytes at `offset`.
static StatusOr<bool> hasBytes(const InputFile &file, uint64_t offset, std::string_view bytes) {
  constexpr size_t kMaxChunk = 1 << 20;
  std::string read;
  while (!bytes.empty()) {
    read.resize(std::min(bytes.size(), kMaxChunk));
    INLAY_RETURN_IF_ERROR(file.read(offset, read.data(), read.size()));
    if (bytes.substr(0, read.size()) != read)
      return false;
    offset += read.size();
    bytes.remove_prefix(read.size());
  }
  return true;
}

/// Returns true if a file consists of these bytes.
static StatusOr<bool> isMadeOf(const InputFile &file, uint64_t size, const std::vector<std::string_view> &parts) {
  if (file.size() != size)
    return false;
  uint64_t offset = 0;
  for (std::string_view part : parts) {
    StatusOr<bool> isSame = hasBytes(file, offset, part);
    if (!isSame.isOk() || !*isSame)
      return isSame;
    offset += part.size();
  }
  return true;
}

static Status inFile(const std::string &name, const Status &status) {
  return {status.code(), fmt::format("weights file '{}': {}", name, status.message())};
}

Status WeightsFile::refuse() const {
  return inFile(record_.name, {StatusCode::InvalidArgument,
                               "exists with other contents, which another container may need: save with another name, "
                               "or allow replacing it (replace_weights=True, --replace-weights)"});
}

/// Returns true if the file exists with these contents. Fails if it exists with others and must not be replaced.
StatusOr<bool> WeightsFile::isThere() const {
  struct stat facts = {};
  if (lstat((folderOf(path_) + "/" + record_.name).c_str(), &facts) != 0)
    return false; // if lstat failed for another reason, writing reports it
  StatusOr<InputFile> file = InputFile::openBeside(path_, record_.name);
  StatusOr<bool> isSame =
      file.isOk() ? isMadeOf(*file, record_.bytes, partsOf(layout_)) : StatusOr<bool>(file.status());
  if (isSame.isOk() && *isSame) // its writer may not have flushed it
    INLAY_RETURN_IF_ERROR(inFile(record_.name, file->sync()));
  if (mayReplace_)
    return isSame.isOk() && *isSame;
  if (!isSame.isOk())
    return inFile(record_.name, isSame.status());
  return *isSame ? isSame : StatusOr<bool>(refuse());
}

Status WeightsFile::write() {
  StatusOr<OutputFile> file =
      OutputFile::create(folderOf(path_) + "/" + record_.name, OnLink::Replace); // a link may leave the folder
  if (!file.isOk())
    return file.status();
  for (std::string_view part : partsOf(layout_))
    INLAY_RETURN_IF_ERROR(file->write(part));
  INLAY_RETURN_IF_ERROR(file->finish());
  output_.emplace(std::move(*file));
  return Status::ok();
}

StatusOr<WeightsFile> WeightsFile::prepare(const std::string &path, const std::string &name, WeightsLayout layout,
                                           bool mayReplace) {
  WeightsFile weights;
  weights.path_ = path;
  weights.layout_ = std::move(layout);
  weights.mayReplace_ = mayReplace;
  weights.record_.name = name;
  Hasher hasher;
  for (std::string_view part : partsOf(weights.layout_)) {
    hasher.add(part);
    weights.record_.bytes += part.size();
  }
  weights.record_.digest = hasher.digest();
  StatusOr<bool> isThere = weights.isThere();
  if (!isThere.isOk())
    return isThere.status();
  if (!*isThere)
    INLAY_RETURN_IF_ERROR(weights.write());
  return weights;
}

Status WeightsFile::commit() {
  if (!output_)
    return Status::ok();
  if (mayReplace_)
    return output_->commit();
  StatusOr<bool> isNew = output_->commitNew();
  if (!isNew.isOk() || *isNew)
    return isNew.isOk() ? Status::ok() : isNew.status();
  StatusOr<bool> isSame = isThere(); // another process created the file in the meantime
  return !isSame.isOk() ? isSame.status() : *isSame ? Status::ok() : refuse();
}

} // namespace inlay::rt
