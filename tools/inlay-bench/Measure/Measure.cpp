// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures time and memory of a step in a child process, and summarizes runs by medians (`summarize`).
// LaunchesSuite.cpp also takes medians of its own. The suites `models` and `kernels` are summarized in
// peers/contest/contest.py (`_make_rows`), and `sizes` in peers/size_peers.py.

#include "Measure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

double Stopwatch::now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

//===-- Memory --------------------------------------------------------------------------------------------------===//

/// Returns the value of a line of /proc/self/status that is in kB, in megabytes, or 0 if there is no such line.
static double readProcessMemory(llvm::StringRef key) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!buffer)
    return 0;
  for (llvm::StringRef line : llvm::split((*buffer)->getBuffer(), '\n')) {
    int64_t kilobytes;
    if (line.consume_front(key) && !line.drop_front().trim().split(' ').first.getAsInteger(10, kilobytes))
      return static_cast<double>(kilobytes) / 1024;
  }
  return 0;
}

MemoryWatch::MemoryWatch() {
  // Resets the peak to the memory in use. If the system refuses, the peak is the one since the start of the process.
  if (int file = open("/proc/self/clear_refs", O_WRONLY); file >= 0) {
    [[maybe_unused]] ssize_t written = write(file, "5", 1);
    close(file);
  }
  atStart = readProcessMemory("VmRSS");
}

double MemoryWatch::peak() const { return readProcessMemory("VmHWM"); }

//===-- Child processes -----------------------------------------------------------------------------------------===//

static Status internal(const llvm::Twine &message) { return {StatusCode::Internal, message.str()}; }

static void writeAll(int file, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    text = text.drop_front(static_cast<size_t>(written));
  }
}

static std::string readAll(int file) {
  std::string text;
  char buffer[4096];
  while (true) {
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

StatusOr<json::Object> bench::runInChild(llvm::StringRef what, llvm::function_ref<StatusOr<json::Object>()> step) {
  int ends[2];
  if (pipe(ends) != 0)
    return internal(what + ": can't open a pipe to a child process");
  llvm::outs().flush();
  pid_t child = fork();
  if (child < 0)
    return internal(what + ": can't start a child process");
  if (child == 0) {
    close(ends[0]);
    StatusOr<json::Object> found = step();
    std::string text;
    llvm::raw_string_ostream(text) << json::Value(found.isOk() ? std::move(*found)
                                                               : json::Object{{"error", found.status().message()}});
    writeAll(ends[1], text);
    _exit(0);
  }
  close(ends[1]);
  std::string text = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    return internal(what + ": the measured process ended by signal " + llvm::Twine(WTERMSIG(status)) +
                    (WTERMSIG(status) == SIGKILL ? " (out of memory?)" : ""));
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return internal(what + ": the measured process ended without a result");
  }
  json::Object *object = value->getAsObject();
  if (std::optional<llvm::StringRef> error = object->getString("error"))
    return internal(what + ": " + *error);
  return std::move(*object);
}

//===-- Repeats -------------------------------------------------------------------------------------------------===//

static double median(std::vector<double> values) {
  llvm::sort(values);
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

StatusOr<json::Object> bench::summarize(llvm::StringRef what, llvm::ArrayRef<json::Object> runs) {
  json::Object result;
  for (const auto &[key, first] : runs.front()) {
    llvm::StringRef name = key;
    bool isMeasured = name.ends_with("_ms") || name.ends_with("_mb");
    std::vector<double> values;
    for (const json::Object &run : runs) {
      const json::Value *value = run.get(name);
      if (!value || (!isMeasured && *value != first))
        return internal(what + ": '" + name + "' differs from run to run");
      values.push_back(value->getAsNumber().value_or(0));
    }
    result[name.str()] = isMeasured ? json::Value(median(std::move(values))) : first;
  }
  return result;
}

StatusOr<std::vector<json::Object>>
bench::measureByTurns(llvm::StringRef what, unsigned repeats, unsigned variants,
                      llvm::function_ref<StatusOr<json::Object>(unsigned variant)> step) {
  std::vector<std::vector<json::Object>> runs(variants);
  for (unsigned repeat = 0; repeat < repeats; ++repeat)
    for (unsigned variant = 0; variant < variants; ++variant) {
      StatusOr<json::Object> run = runInChild(what, [&] { return step(variant); });
      if (!run.isOk())
        return run.status();
      runs[variant].push_back(std::move(*run));
    }
  std::vector<json::Object> result;
  for (const std::vector<json::Object> &variantRuns : runs) {
    StatusOr<json::Object> summary = summarize(what, variantRuns);
    if (!summary.isOk())
      return summary.status();
    result.push_back(std::move(*summary));
  }
  return result;
}
