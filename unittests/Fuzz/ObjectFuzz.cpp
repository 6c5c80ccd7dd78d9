// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzz target: the linker of object files. The code is mapped but not called.

#include "inlay/Runtime/Host/ObjectLoader.h"

#include <cstdlib>
#include <string>

using namespace inlay::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string object(reinterpret_cast<const char *>(data), size); // a copy: no bytes behind its end can be read
  Budget budget(uint64_t(64) << 20);
  auto library = host::linkObject(object, budget);
  if (!library.isOk())
    return library.status().message().empty() ? std::abort(), 0 : 0;
  for (const char *name : {"sample_sine", "sample_tables", "", "missing"})
    if (auto entry = (*library)->lookup(name); entry.isOk() ? !*entry : entry.status().message().empty())
      std::abort();
  return 0;
}
