// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the seeds of the fuzz target into a folder: small containers that use all features.

#include "RandomPlan.h"
#include "inlay/Runtime/Container/Container.h"

#include <fmt/format.h>

using namespace inlay::rt;

int main(int argc, char **argv) {
  if (argc != 2)
    return fmt::print(stderr, "expected a folder\n"), 1;
  for (uint32_t seed = 0; seed <= 8; ++seed) {
    std::shared_ptr<Plan> plan = seed == 0 ? test::smallPlan() : seed == 8 ? test::statePlan() : test::randomPlan(seed);
    std::string path = fmt::format("{}/{}.inlay", argv[1], seed == 8 ? "state" : std::to_string(seed));
    Status status = writeContainer(path, *plan, {"{\"version\":1}", "{}"}, {"", true});
    if (!status.isOk())
      return fmt::print(stderr, "{}\n", status.message()), 1;
  }
  return 0;
}
