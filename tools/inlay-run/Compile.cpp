// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts inlay-compile for a module and passes flags on. Execution/Compile.cpp compiles.

#include "Compile.h"

#include "inlay/Runtime/Container/Container.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

/// Returns the path of inlay-compile in the folder of this executable.
static StatusOr<std::string> findCompiler(const std::string &file) {
  std::array<char, PATH_MAX> executable;
  ssize_t length = readlink("/proc/self/exe", executable.data(), executable.size());
  std::string path(executable.data(), length > 0 ? static_cast<size_t>(length) : 0);
  path = path.substr(0, path.rfind('/') + 1) + "inlay-compile";
  if (access(path.c_str(), X_OK) == 0)
    return path;
  return Status(StatusCode::NotFound,
                fmt::format("'{}' is not a compiled program, and the compiler can't be found: '{}': {}", file, path,
                            std::strerror(errno)));
}

/// Copies standard input to an unlinked file in `folder` and returns its descriptor.
static StatusOr<int> keepInput(const std::string &folder) {
  std::string path = folder + "/input";
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  unlink(path.c_str());
  std::array<char, 1 << 16> part;
  for (ssize_t count; file >= 0 && (count = read(STDIN_FILENO, part.data(), part.size())) != 0;)
    if (count < 0 || write(file, part.data(), static_cast<size_t>(count)) != count) {
      close(file);
      file = -1;
    }
  if (file < 0)
    return Status(StatusCode::NotFound, fmt::format("can't read '-': {}", std::strerror(errno)));
  return file;
}

Status tools::Compiler::prepare() {
  if (folder_.path().empty())
    INLAY_RETURN_IF_ERROR(folder_.make());
  if (file_ != "-" || input_ >= 0)
    return Status::ok();
  StatusOr<int> input = keepInput(folder_.path());
  if (!input.isOk())
    return input.status();
  input_ = *input;
  if (rt::isContainer(fmt::format("/proc/self/fd/{}", input_)))
    return {StatusCode::InvalidArgument,
            "expected a module on standard input, but got a compiled program, which can only be read from a file"};
  return Status::ok();
}

tools::Compiler::~Compiler() {
  if (input_ >= 0)
    close(input_);
}

StatusOr<std::string> tools::Compiler::compile(const std::vector<std::string> &options) {
  INLAY_RETURN_IF_ERROR(prepare());
  StatusOr<std::string> compiler = findCompiler(file_);
  if (!compiler.isOk())
    return compiler;
  std::string path = folder_.path() + "/program.inlay";
  std::vector<std::string> words = {*compiler, file_, "-o", path};
  words.insert(words.end(), options.begin(), options.end());
  StatusOr<int> code = runAndWait(words, input_);
  if (!code.isOk())
    return code.status();
  if (*code > 128)
    return Status(StatusCode::Internal,
                  fmt::format("the compiler crashed: signal {} ({})", *code - 128, strsignal(*code - 128)));
  if (*code != 0)
    return Status(StatusCode::InvalidArgument, ""); // the compiler has printed the reason
  return path;
}
