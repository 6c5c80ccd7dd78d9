// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that compiles volk. Built with hidden visibility: its variables have the names of Vulkan's functions
// and must never be taken for them by a library in the same process.

#define VOLK_IMPLEMENTATION
#include <volk.h>
