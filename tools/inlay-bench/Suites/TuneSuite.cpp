// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tune suite: finds the instruction costs of a device that give the fastest kernels.
//
// Costs determine the tiles of products. The search starts from the costs of the device's kind and halves and doubles
// one cost after the other. It keeps a change that makes a set of products faster. Costs that lead to the same kernels
// are not measured again.

#include "Measure/Probe.h"
#include "Suites.h"
#include "inlay/Runtime/Vulkan/Limits.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"
#include "inlay/Support/Tuning.h"
#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
using rt::vulkan::DeviceCaps;

//===-- Products ------------------------------------------------------------------------------------------------===//

namespace {
struct Product {
  const char *name, *text;
};
} // namespace

/// The measured products: a large one, one with few rows, one with one row, one with few results of many terms, and a
/// convolution.
static constexpr Product kProducts[] = {
    {"matmul-512", R"(func.func @forward(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = inlay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
})"},
    {"linear-16x768x3072",
     R"(func.func @forward(%x: tensor<16x768xf32>, %w: tensor<3072x768xf32>) -> tensor<16x3072xf32> {
  %0 = inlay.linear %x, %w : (tensor<16x768xf32>, tensor<3072x768xf32>) -> tensor<16x3072xf32>
  return %0 : tensor<16x3072xf32>
})"},
    {"matmul-1x2048x2048",
     R"(func.func @forward(%x: tensor<1x2048xf32>, %y: tensor<2048x2048xf32>) -> tensor<1x2048xf32> {
  %0 = inlay.matmul %x, %y : (tensor<1x2048xf32>, tensor<2048x2048xf32>) -> tensor<1x2048xf32>
  return %0 : tensor<1x2048xf32>
})"},
    {"matmul-16x16384x16",
     R"(func.func @forward(%x: tensor<16x16384xf32>, %y: tensor<16384x16xf32>) -> tensor<16x16xf32> {
  %0 = inlay.matmul %x, %y : (tensor<16x16384xf32>, tensor<16384x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
})"},
    {"conv3x3-64-28",
     R"(func.func @forward(%x: tensor<1x64x28x28xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32> {
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
})"},
};

//===-- The search ----------------------------------------------------------------------------------------------===//

namespace {
using Costs = std::map<std::string, double>;

/// A set of costs with the times of the products under these costs.
struct Candidate {
  Costs costs;
  std::vector<double> seconds; ///< Time of each product.
};

class Search {
public:
  Search(const DeviceCaps &caps, unsigned rounds) : caps(caps), rounds(rounds) {}

  /// Searches for the best costs, from those of the device's kind.
  Status run();

  Candidate first, best;

private:
  StatusOr<Candidate> measure(const Costs &costs, bool again = false);
  Status consider(const std::string &key, double factor);

  const DeviceCaps &caps;
  unsigned rounds;
  std::vector<std::map<std::string, double>> known{
      std::size(kProducts)}; ///< Seconds of each product by the code of its kernels.
};
} // namespace

static std::string format(const DeviceCaps &caps, const Costs &costs) {
  return formatTuning({caps.name, caps.driver, {costs.begin(), costs.end()}});
}

/// Returns the geometric mean over the products of the time of `candidate` divided by that of `reference`.
static double compare(const Candidate &candidate, const Candidate &reference) {
  double sum = 0;
  for (auto [a, b] : llvm::zip_equal(candidate.seconds, reference.seconds))
    sum += std::log(a / b);
  return std::exp(sum / static_cast<double>(reference.seconds.size()));
}

/// Measures all products under `costs`. A product whose code is known is only measured if `again` is true. The fastest
/// of all its times counts.
StatusOr<Candidate> Search::measure(const Costs &costs, bool again) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("inlay-tuning", "json", descriptor, path))
    return Status(StatusCode::Internal, "can't create a temporary file: " + error.message());
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << format(caps, costs);
  Candidate candidate{costs, {}};
  for (auto [product, times] : llvm::zip_equal(kProducts, known)) {
    auto isKnown = [&times = times, again](const std::string &code) { return !again && times.count(code) > 0; };
    StatusOr<Sample> sample = runProbe({product.text, "vulkan", path.str().str(), /*runs=*/1, rounds}, isKnown);
    if (!sample.isOk())
      return Status(sample.status().code(), std::string(product.name) + ": " + sample.status().message());
    auto [time, isNew] = times.try_emplace(sample->code, sample->run);
    if (sample->run > 0)
      time->second = std::min(time->second, sample->run);
    candidate.seconds.push_back(time->second);
  }
  return candidate;
}

/// Multiplies a cost by `factor`. Keeps the change if it is faster and remains faster when both candidates are measured
/// again in turn.
Status Search::consider(const std::string &key, double factor) {
  constexpr double kFaster = 0.97;
  Costs costs = best.costs;
  costs[key] *= factor;
  StatusOr<Candidate> other = measure(costs);
  if (!other.isOk())
    return other.status();
  double ratio = compare(*other, best);
  constexpr unsigned kTurns = 3;
  for (unsigned turn = 0; turn < kTurns && ratio < kFaster; ++turn) {
    StatusOr<Candidate> before = measure(best.costs, /*again=*/true);
    if (!before.isOk())
      return before.status();
    other = measure(costs, /*again=*/true);
    if (!other.isOk())
      return other.status();
    best = *before;
    ratio = compare(*other, best);
  }
  llvm::errs() << llvm::formatv("{0} {1:f2}: {2:f3} of the time\n", key, costs[key], ratio);
  if (ratio < kFaster)
    best = *other;
  return Status::ok();
}

Status Search::run() {
  SubgroupProductProfile profile = caps.software
                                       ? SubgroupProductProfile::forSoftware(caps.subgroupSize, caps.prefersTexels)
                                       : SubgroupProductProfile::forGPU(rt::vulkan::chooseSubgroupSize(caps));
  Costs costs;
  for (llvm::StringRef key : getTuningKeys())
    costs[key.str()] = *profile.find(key);
  StatusOr<Candidate> start = measure(costs);
  if (!start.isOk())
    return start.status();
  first = best = *start;
  constexpr unsigned kMaxPasses = 3;
  for (unsigned pass = 0; pass < kMaxPasses; ++pass) {
    Costs before = best.costs;
    for (llvm::StringRef key : getTuningKeys())
      for (double factor : {0.5, 2.0})
        INLAY_RETURN_IF_ERROR(consider(key.str(), factor));
    if (best.costs == before)
      break;
  }
  start = measure(first.costs); // uses the fastest times known so far
  if (start.isOk())
    first = *start;
  return start.status();
}

//===-- The suite -----------------------------------------------------------------------------------------------===//

static Table makeTable(const Search &search) {
  Table table;
  table.name = "tuning";
  table.counted =
      "Milliseconds of products under the costs of the device's kind (default) and under the costs found (tuned).";
  table.columns = {"product", "default_ms", "tuned_ms", "ratio"};
  for (auto [product, before, after] : llvm::zip_equal(kProducts, search.first.seconds, search.best.seconds))
    table.addRow(llvm::json::Object{
        {"product", product.name}, {"default_ms", before * 1e3}, {"tuned_ms", after * 1e3}, {"ratio", after / before}});
  return table;
}

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<DeviceCaps> caps = rt::vulkan::selectDevice(getProbeDevice());
  if (!caps.isOk())
    return caps.status();
  StatusOr<ProbeOutput> output = ProbeOutput::create();
  if (!output.isOk())
    return output.status();
  Search search(*caps, 10 * repeats);
  INLAY_RETURN_IF_ERROR(search.run());
  figures.add(makeTable(search), llvm::outs());
  llvm::outs().flush();
  return output->write(format(*caps, search.best.costs));
}

const Suite &bench::tuneSuite() {
  static const Suite suite{"tune", "measures the instruction costs of a Vulkan device for --tuning", &getTuneCategory(),
                           run};
  return suite;
}
