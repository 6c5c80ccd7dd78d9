// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the description of the machine for the head of a table.

#include "Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sys/utsname.h>
#include <thread>

using namespace inlay;
namespace json = llvm::json;

/// Returns the value of the first line `key : value` of a file, or "" if there is none.
static std::string readField(llvm::StringRef file, llvm::StringRef key) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(file);
  if (!buffer)
    return "";
  for (llvm::StringRef line : llvm::split((*buffer)->getBuffer(), '\n'))
    if (line.starts_with(key))
      return line.split(':').second.trim().str();
  return "";
}

static std::string describeCompiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#elif defined(__GNUC__)
  return std::string("g++ ") + __VERSION__;
#else
  return "unknown";
#endif
}

std::vector<std::pair<std::string, json::Value>> bench::describeMachine() {
  std::vector<std::pair<std::string, json::Value>> facts;
  if (std::string processor = readField("/proc/cpuinfo", "model name"); !processor.empty())
    facts.emplace_back("processor", processor);
  facts.emplace_back("cores", static_cast<int64_t>(std::thread::hardware_concurrency()));
  int64_t kilobytes;
  if (!llvm::StringRef(readField("/proc/meminfo", "MemTotal")).split(' ').first.getAsInteger(10, kilobytes))
    facts.emplace_back("memory_gb", kilobytes >> 20);
  double load[1];
  if (getloadavg(load, 1) == 1)
    facts.emplace_back("load", load[0]);
  utsname system;
  if (uname(&system) == 0)
    facts.emplace_back("system", std::string(system.sysname) + " " + system.machine);
  facts.emplace_back("compiler", describeCompiler());
#ifdef NDEBUG
  facts.emplace_back("assertions", false);
#else
  facts.emplace_back("assertions", true);
#endif
  facts.emplace_back("llvm", LLVM_VERSION_STRING);
  return facts;
}
