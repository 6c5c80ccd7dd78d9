// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of tests that a sanitizer watches: no library is unloaded, so that what drivers and layers keep to the end can
// be told from what is ours by their names.

extern "C" int dlclose(void *) { return 0; }
