// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzz target: the readers of placement files, reports as placements, cost models and tuning files. The first byte
// selects the reader. What a reader accepts must be the same after it was written and read again.

#include "Partition/Cost/CostModelJson.h"
#include "inlay/Partition/PlacementFile.h"
#include "inlay/Support/Json.h"
#include "inlay/Support/Tuning.h"

#include <cstdlib>

using namespace inlay;
using llvm::StringRef;

static void expect(bool holds) {
  if (!holds)
    std::abort();
}

/// Returns true if reading succeeded. An error must have a message.
template <typename T>
static bool isOk(llvm::Expected<T> &result) {
  if (result)
    return true;
  expect(!llvm::toString(result.takeError()).empty());
  return false;
}

static void readAsPlacement(StringRef text) {
  llvm::Expected<PlacementFile> file = readPlacement(text);
  if (!isOk(file))
    return;
  std::string written = writePlacement(*file);
  llvm::Expected<PlacementFile> again = readPlacement(written);
  expect(isOk(again));
  expect(writePlacement(*again) == written);
  expect(comparePlacements(*file, *again).empty());
}

static void readAsReport(StringRef text) {
  llvm::Expected<PlacementFile> file = readPlacementOrReport(text);
  if (isOk(file))
    expect(comparePlacements(*file, *file).empty());
}

static void readAsCostModel(StringRef text) {
  llvm::Expected<llvm::json::Value> value = parseJson(text);
  if (!isOk(value))
    return;
  llvm::Expected<CostModel> model = readCostModelJson(*value, "a file");
  if (isOk(model))
    expect(!model->targets.empty());
}

static void readAsTuning(StringRef text) {
  llvm::Expected<Tuning> tuning = parseTuning(text, "a file");
  if (!isOk(tuning))
    return;
  std::string written = formatTuning(*tuning);
  llvm::Expected<Tuning> again = parseTuning(written, "a file");
  expect(isOk(again));
  expect(formatTuning(*again) == written);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  static constexpr void (*kReaders[])(StringRef) = {readAsPlacement, readAsReport, readAsCostModel, readAsTuning};
  kReaders[data[0] % 4](text);
  return 0;
}
