// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fuzz target of the reader (libFuzzer, with AddressSanitizer and UndefinedBehaviorSanitizer). It corrects the
// length and the hash of the input, so that the input reaches the decoder.

#include "Image.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <cstdint>

using namespace inlay::rt;

/// Reads the bytes of constants as a kernel would. Bytes that are never read are not mapped in.
static void touch(const Plan &plan) {
  volatile unsigned char sum = 0;
  for (const Constant &constant : plan.constants)
    for (size_t i = 0; i < constant.size; ++i)
      sum = static_cast<unsigned char>(sum + static_cast<const unsigned char *>(constant.data)[i]);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string image(reinterpret_cast<const char *>(data), size);
  test::seal(image);
  StatusOr<ContainerContents> saved = test::readImage(image);
  if (!saved.isOk())
    return saved.status().message().empty() ? std::abort(), 0 : 0;
  touch(*saved->plan);
  Status status = checkPlan(*saved->plan);
  if (!status.isOk() && status.message().empty())
    std::abort();
  return 0;
}
