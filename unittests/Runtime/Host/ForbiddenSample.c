// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code that calls what it may not.

int system(const char *command);

void sample_forbidden(void *const *buffers) { *(int *)buffers[0] = system("true"); }
