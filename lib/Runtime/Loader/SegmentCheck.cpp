// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Loader/SegmentCheck.h"
#include "inlay/Runtime/Host/HalfFloats.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Host/ObjectLoader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace inlay::rt {

double tolerance(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return 1e-10;
  case ElementType::F32:
    return 1e-4;
  case ElementType::F16:
    return 5e-3;
  case ElementType::BF16:
    return 4e-2;
  default:
    return 0;
  }
}

template <typename T>
static double load(const void *data, size_t number) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + number * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

static double elementAt(const TensorView &tensor, size_t number) {
  switch (tensor.element) {
  case ElementType::F16:
    return host::halfToFloat(static_cast<uint16_t>(load<uint16_t>(tensor.data, number)));
  case ElementType::BF16:
    return host::bfloatToFloat(static_cast<uint16_t>(load<uint16_t>(tensor.data, number)));
  case ElementType::F32:
    return load<float>(tensor.data, number);
  case ElementType::F64:
    return load<double>(tensor.data, number);
  case ElementType::I16:
    return load<int16_t>(tensor.data, number);
  case ElementType::I32:
    return load<int32_t>(tensor.data, number);
  case ElementType::I64:
    return load<int64_t>(tensor.data, number);
  default:
    return load<int8_t>(tensor.data, number);
  }
}

static size_t countElements(const TensorView &tensor) {
  size_t count = 1;
  for (int64_t dim : tensor.dims)
    count *= static_cast<size_t>(dim);
  return count;
}

static void addDifference(SegmentDifference &difference, const TensorView &device, const TensorView &host) {
  double absolute = 0, largest = 0;
  for (size_t i = 0, e = countElements(host); i < e; ++i) {
    double a = elementAt(device, i), b = elementAt(host, i);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b));
    double apart = isSame ? 0 : std::isfinite(a - b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
    absolute = std::max(absolute, apart);
    if (std::isfinite(b))
      largest = std::max(largest, std::abs(b));
  }
  difference.absolute = std::max(difference.absolute, absolute);
  difference.relative = std::max(difference.relative, largest > 0 ? absolute / largest : absolute);
  ++difference.runs;
}

StatusOr<SegmentCheck> checkSegments(const OpenedProgram &opened, const OpenOptions &options,
                                     const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) {
  ProbedPlan probed = probeSegments(*opened.plan);
  std::mutex mutex;
  auto onCallback = [&](uint32_t number, const std::vector<TensorView> &read, const std::vector<TensorView> &written,
                        const std::vector<int64_t> &sizes) {
    if (number < probed.firstProbe)
      return options.callbacks ? options.callbacks(number, read, written, sizes)
                               : Status(StatusCode::NotFound, "a callback has no handler");
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<SegmentDifference> &differences = probed.probes[number - probed.firstProbe];
    for (size_t i = 0; i < differences.size(); ++i)
      addDifference(differences[i], read[i], read[differences.size() + i]);
    return Status::ok();
  };
  StatusOr<std::shared_ptr<HostLibrary>> host = host::linkHostCode(probed.plan.hostCode);
  if (!host.isOk())
    return host.status();
  auto plan = std::make_shared<const Plan>(std::move(probed.plan));
  auto program = Program::load(plan, opened.device, *host, onCallback, options.runners, host::getHostKernelLoader());
  if (!program.isOk())
    return program.status();
  INLAY_RETURN_IF_ERROR((*program)->call(inputs, outputs));
  SegmentCheck check;
  check.unchecked = std::move(probed.unprobed);
  for (std::vector<SegmentDifference> &differences : probed.probes)
    check.differences.insert(check.differences.end(), differences.begin(), differences.end());
  return check;
}

} // namespace inlay::rt
