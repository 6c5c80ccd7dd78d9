// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the functions of libfmt in libinlay_runtime.so, so that it does not need the machine's libfmt at run time.
// The build keeps the inline functions of fmt's header-only mode in this object. The linker drops those that are not
// used.

#define FMT_HEADER_ONLY
#include <fmt/format.h>
