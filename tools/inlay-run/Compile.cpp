// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compile.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

/// inlay-compile beside this executable.
static StatusOr<std::string> findCompiler(const std::string &file) {
  std::array<char, PATH_MAX> own;
  ssize_t length = readlink("/proc/self/exe", own.data(), own.size());
  std::string path(own.data(), length > 0 ? static_cast<size_t>(length) : 0);
  path = path.substr(0, path.rfind('/') + 1) + "inlay-compile";
  if (access(path.c_str(), X_OK) == 0)
    return path;
  return Status(StatusCode::NotFound,
                fmt::format("'{}' is no compiled program, and there is no compiler to make it one: '{}': {}", file,
                            path, std::strerror(errno)));
}

/// Copies standard input to a file without a name in `folder`.
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
  if (!folder_.empty())
    return Status::ok();
  const char *root = std::getenv("TMPDIR");
  std::string path = std::string(root && *root ? root : "/tmp") + "/inlay-run-XXXXXX";
  if (!mkdtemp(path.data()))
    return {StatusCode::NotFound,
            fmt::format("can't make a temporary folder '{}' (TMPDIR): {}", path, std::strerror(errno))};
  folder_ = path;
  if (file_ != "-")
    return Status::ok();
  StatusOr<int> input = keepInput(folder_);
  if (!input.isOk())
    return input.status();
  input_ = *input;
  return Status::ok();
}

tools::Compiler::~Compiler() {
  for (const std::string &path : made_)
    unlink(path.c_str());
  if (!folder_.empty())
    rmdir(folder_.c_str());
  if (input_ >= 0)
    close(input_);
}

/// Runs a program and waits; its exit status, or 128 and more if a signal ended it.
static StatusOr<int> run(const std::vector<std::string> &words, int input) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input >= 0) {
    lseek(input, 0, SEEK_SET);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  }
  pid_t child = -1;
  int code = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0)
    return Status(StatusCode::NotFound, fmt::format("can't run '{}': {}", words[0], std::strerror(code)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Status(StatusCode::Internal, fmt::format("can't wait for '{}': {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

StatusOr<std::string> tools::Compiler::compile(const std::vector<std::string> &options) {
  StatusOr<std::string> compiler = findCompiler(file_);
  if (!compiler.isOk())
    return compiler;
  INLAY_RETURN_IF_ERROR(prepare());
  std::string path = fmt::format("{}/program{}.inlay", folder_, made_.size());
  made_.push_back(path);
  std::vector<std::string> words = {*compiler, file_, "-o", path};
  words.insert(words.end(), options.begin(), options.end());
  StatusOr<int> code = run(words, input_);
  if (!code.isOk())
    return code.status();
  if (*code > 128)
    return Status(StatusCode::Internal,
                  fmt::format("the compiler crashed: signal {} ({})", *code - 128, strsignal(*code - 128)));
  if (*code != 0)
    return Status(StatusCode::InvalidArgument, ""); // it has said why
  return path;
}
