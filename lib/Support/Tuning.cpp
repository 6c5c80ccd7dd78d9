// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes tuning files. tools/inlay-bench/Suites measures the figures.
// Target/Vulkan/GPU/SubgroupProductProfile.cpp applies them.

#include "inlay/Support/Tuning.h"
#include "inlay/Support/Json.h"
#include "inlay/Support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace inlay;
using llvm::Expected;
using llvm::StringRef;

static constexpr int64_t kVersion = 1;

llvm::ArrayRef<StringRef> inlay::getTuningKeys() {
  static constexpr StringRef keys[] = {"load", "quad", "broadcast", "launch", "points", "subgroups"};
  return keys;
}

/// Reads `root` into `tuning`. Returns the first error, or an empty string on success.
static std::string read(const llvm::json::Object &root, Tuning &tuning) {
  static constexpr StringRef known[] = {"version", "device", "driver", "costs"};
  for (const auto &entry : root)
    if (!llvm::is_contained(known, StringRef(entry.first)))
      return llvm::formatv("unknown key '{0}': expected {1}", entry.first.str(),
                           llvm::join(llvm::ArrayRef(known), ", "));
  if (root.getInteger("version") != kVersion)
    return llvm::formatv("expected 'version' to be {0}", kVersion);
  for (auto [key, value] : {std::pair(StringRef("device"), &tuning.device), {StringRef("driver"), &tuning.driver}}) {
    std::optional<StringRef> text = root.getString(key);
    if (!text)
      return llvm::formatv("expected '{0}' to be a string", key);
    *value = text->str();
  }
  const llvm::json::Object *costs = root.getObject("costs");
  if (!costs)
    return "expected 'costs' to be an object";
  for (const auto &[key, value] : *costs) {
    StringRef name = key;
    if (!llvm::is_contained(getTuningKeys(), name))
      return llvm::formatv(
          "unknown key 'costs.{0}': expected some of {1}{2}", name, llvm::join(getTuningKeys(), ", "),
          suggest(name, llvm::to_vector(llvm::map_range(getTuningKeys(), [](StringRef k) { return k.str(); }))));
    std::optional<double> number = value.getAsNumber();
    if (!number || !std::isfinite(*number) || *number <= 0)
      return llvm::formatv("expected 'costs.{0}' to be a number above 0", name);
    tuning.costs.emplace_back(name.str(), *number);
  }
  llvm::sort(tuning.costs);
  return "";
}

Expected<Tuning> inlay::parseTuning(StringRef text, StringRef path) {
  auto fail = [&](const std::string &problem) {
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "tuning file '" + path + "': " + problem);
  };
  Expected<llvm::json::Value> value = parseJson(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  const llvm::json::Object *root = value->getAsObject();
  if (!root)
    return fail("expected an object");
  Tuning tuning;
  if (std::string problem = read(*root, tuning); !problem.empty())
    return fail(problem);
  return tuning;
}

Expected<Tuning> inlay::readTuning(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "tuning file '" + path + "': " + buffer.getError().message());
  return parseTuning((*buffer)->getBuffer(), path);
}

std::string inlay::formatTuning(const Tuning &tuning) {
  llvm::json::Object costs;
  for (const auto &[key, value] : tuning.costs)
    costs[key] = value;
  llvm::json::Value root = llvm::json::Object{
      {"version", kVersion}, {"device", tuning.device}, {"driver", tuning.driver}, {"costs", std::move(costs)}};
  return llvm::formatv("{0:2}\n", root);
}
