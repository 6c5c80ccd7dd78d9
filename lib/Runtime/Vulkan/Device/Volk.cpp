// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles volk. It has hidden visibility: volk's variables have the names of Vulkan's functions, and other libraries
// of the process must not bind to them.

#define VOLK_IMPLEMENTATION
#include <volk.h>
