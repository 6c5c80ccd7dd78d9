// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code that calls a function that it may not call.

int system(const char *command);

void sample_forbidden(void *const *buffers) { *(int *)buffers[0] = system("true"); }
