// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scenario.h"

#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <cmath>

namespace inlay::rt::test {

void Scenario::fail(std::string what) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.empty())
    failure_ = std::move(what);
}

/// Checks an error. If all engines have host versions, only calls with effects may fail. Errors need a device's code
/// and a message.
void Scenario::judge(const char *what, const Status &status) {
  ++errors_;
  bool isTyped = status.code() == StatusCode::DeviceLost || status.code() == StatusCode::ResourceExhausted ||
                 status.code() == StatusCode::Unavailable || status.code() == StatusCode::Internal;
  if (!isTyped || status.message().find("vk") == std::string::npos)
    isTyped = isTyped && status.message().find("hasn't finished within") != std::string::npos;
  bool hadEffects = status.message().find("had run and may have had effects") != std::string::npos;
  if (status.message().find("validation layer") != std::string::npos)
    fail(status.message());
  else if (!isTyped)
    fail(fmt::format("{}: an error without a type: {}", what, status.message()));
  else if (program_.canMove && !(program_.hasEffects && hadEffects))
    fail(fmt::format("{}: expected a result, but got {}", what, status.message()));
}

StatusOr<std::shared_ptr<Device>> Scenario::open() {
  auto context = vulkan::openContext(instance_, "", [](vulkan::DeviceTable &device) { wrapFunctions(device); });
  if (!context.isOk())
    return context.status();
  (*context)->builder.limitThreads(pipelineThreads);
  return vulkan::makeDevice(*context);
}

StatusOr<std::unique_ptr<Program>> Scenario::load(std::shared_ptr<Device> device) {
  RecoveryOptions options;
  options.firstBackoff = options.longestBackoff = std::chrono::milliseconds(2);
  options.reopenDevice = [this] { return open(); };
  options.notify = [this](const RecoveryNotice &notice) {
    ++notices_;
    if (notice.failure.message().find("validation layer") != std::string::npos)
      fail(notice.failure.message());
  };
  return loadRecovering(program_.plan, std::move(device), faultLibrary(), faultCallback, {}, nullptr, options);
}

void Scenario::call(Program &program, size_t lanes, bool profiled) {
  lanes += program_.importedElements;
  auto owner = std::make_shared<std::vector<float>>(lanes);
  std::vector<float> &x = *owner, y(lanes, -1);
  for (size_t i = 0; i < lanes; ++i)
    x[i] = float(3 + i % 17);
  std::vector<float> original = x;
  Status status;
  if (profiled) {
    Trace trace;
    status = program.profile({view(x)}, {view(y)}, &trace).status();
  } else {
    status = callOnce(program_, program, owner, y);
  }
  if (x != original)
    fail("a call changed its input");
  if (owner.use_count() != 1 && !hangs)
    fail("a call kept its input");
  if (!status.isOk())
    return judge("call", status);
  for (size_t i = 0; i < lanes && weightIsKnown_; ++i) {
    float expected = program_.compute(x, i, weightOf(weight_, int64_t(i)));
    if (std::fabs(y[i] - expected) > 1e-3f * std::fabs(expected))
      return fail(fmt::format("expected {} in lane {} of {}, but got {}", expected, i, lanes, y[i]));
  }
}

void Scenario::replace(Program &program, float weight) {
  Status status = program.replaceConstants({{0, makeWeights(weight)}});
  if (status.isOk())
    weight_ = weight;
  weightIsKnown_ = status.isOk();
  if (!status.isOk())
    judge("new constants", status);
}

void Scenario::life() {
  StatusOr<std::shared_ptr<Device>> device = open();
  if (!device.isOk()) { // allowed once, because no program exists yet that could recover
    ++errors_;
    device = open();
  }
  if (!device.isOk())
    return fail(fmt::format("a device opens the second time at least, but got {}", device.status().message()));
  StatusOr<std::unique_ptr<Program>> program = load(*device);
  if (!program.isOk()) {
    judge("load", program.status());
    if (device = open(); device.isOk())
      program = load(*device);
  }
  if (!program.isOk())
    return fail(fmt::format("a program loads the second time at least, but got {}", program.status().message()));
  device->reset();
  call(**program, 10);
  call(**program, 10);
  call(**program, 77);
  replace(**program, 2);
  call(**program, 10);
  call(**program, 33, /*profiled=*/true);
  replace(**program, 3);
  call(**program, kMaxLanes);
}

std::string Scenario::run() {
  life();
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

} // namespace inlay::rt::test
