// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes whole files of any kind. Arrays.cpp reads the formats of arrays.

#include "Files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

namespace {
struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
} // namespace

static Status failed(const std::string &path, const char *what, int code) {
  return {code == ENOENT || code == EACCES ? StatusCode::NotFound : StatusCode::InvalidArgument,
          fmt::format("'{}': {}{}", path, what, std::strerror(code))};
}

StatusOr<std::string> tools::readFile(const std::string &path) {
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return failed(path, "", errno);
  std::string text;
  char part[1 << 16];
  while (size_t count = std::fread(part, 1, sizeof(part), file.get()))
    text.append(part, count);
  if (std::ferror(file.get()))
    return failed(path, "", errno);
  return text;
}

Status tools::writeFile(const std::string &path, std::string_view text) {
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  if (!file)
    return failed(path, "", errno);
  bool isWritten = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  int code = errno;
  if (std::fclose(file.release()) != 0 && isWritten) {
    isWritten = false;
    code = errno;
  }
  return isWritten ? Status::ok() : failed(path, "can't be written: ", code);
}
