// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a folder that is removed at exit and on signals, and runs a child process in it.

#include "Temporary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

//===-- Cleanup in signal handlers ------------------------------------------------------------------------------===//

static std::array<char, PATH_MAX> folder;
static std::atomic<bool> hasFolder = false;
static std::atomic<pid_t> child = 0; ///< Set until the child is reaped, so that the number can't be reused.
static std::array<struct sigaction, kSignals.size()> before;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

/// Removes the files of a folder. It doesn't use readdir, which allocates and so can't be called in a signal handler.
static void removeFiles(int directory) {
  alignas(dirent64) std::array<char, 4096> entries;
  for (ssize_t count; (count = getdents64(directory, entries.data(), entries.size())) > 0;)
    for (ssize_t at = 0; at < count;) {
      const auto *entry = reinterpret_cast<const dirent64 *>(entries.data() + at);
      unlinkat(directory, entry->d_name, 0); // fails for "." and ".."
      at += entry->d_reclen;
    }
}

void tools::removeTemporaryFiles() {
  if (!hasFolder)
    return;
  if (int directory = open(folder.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); directory >= 0) {
    removeFiles(directory);
    close(directory);
  }
  rmdir(folder.data());
  hasFolder = false;
}

static void onEnd(int number) {
  if (pid_t running = child) { // end the child first, because it writes to the folder
    kill(running, number);
    while (waitpid(running, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  tools::removeTemporaryFiles();
  std::signal(number, SIG_DFL);
  std::raise(number); // delivered when this handler returns
}

//===-- Signals -------------------------------------------------------------------------------------------------===//

static sigset_t endingSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kSignals)
    sigaddset(&set, number);
  return set;
}

namespace {
/// Blocks the signals during its lifetime.
struct SignalBlocker {
  sigset_t mask;

  SignalBlocker() {
    sigset_t set = endingSignals();
    pthread_sigmask(SIG_BLOCK, &set, &mask);
  }
  ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
};
} // namespace

static void handleSignals() {
  struct sigaction action = {};
  action.sa_handler = onEnd;
  action.sa_mask = endingSignals();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) // nohup ignores signals; keep that
      sigaction(kSignals[i], &action, nullptr);
  }
}

//===-- Folders -------------------------------------------------------------------------------------------------===//

Status tools::TemporaryFolder::make() {
  const char *root = std::getenv("TMPDIR");
  std::string path = std::string(root && *root ? root : "/tmp") + "/inlay-run-XXXXXX";
  SignalBlocker blocker;
  if (path.size() >= folder.size())
    errno = ENAMETOOLONG;
  if (path.size() >= folder.size() || !mkdtemp(path.data()))
    return {StatusCode::NotFound,
            fmt::format("can't create a temporary folder '{}' (TMPDIR): {}", path, std::strerror(errno))};
  path_ = path;
  std::copy_n(path.c_str(), path.size() + 1, folder.begin());
  hasFolder = true;
  handleSignals();
  return Status::ok();
}

void tools::TemporaryFolder::remove() {
  if (path_.empty())
    return;
  SignalBlocker blocker;
  removeTemporaryFiles();
  path_.clear();
  for (size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
}

//===-- Programs ------------------------------------------------------------------------------------------------===//

/// Starts a program and stores its process in `child`. Returns 0 or an errno code.
static int start(const std::vector<std::string> &words, int input) {
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
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  SignalBlocker blocker;
  posix_spawnattr_setsigmask(&attributes, &blocker.mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t started = 0;
  int code = posix_spawn(&started, arguments[0], &actions, &attributes, arguments.data(), environ);
  child = code == 0 ? started : 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

StatusOr<int> tools::runAndWait(const std::vector<std::string> &words, int input) {
  if (int code = start(words, input))
    return Status(StatusCode::NotFound, fmt::format("can't run '{}': {}", words[0], std::strerror(code)));
  pid_t started = child;
  siginfo_t info;
  while (waitid(P_PID, started, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
  child = 0;
  int status = 0;
  while (waitpid(started, &status, 0) < 0)
    if (errno != EINTR)
      return Status(StatusCode::Internal, fmt::format("can't wait for '{}': {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
