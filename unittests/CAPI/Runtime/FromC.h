// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions in C that the tests call, so that a C compiler reads the header of the C API.

#ifndef INLAY_UNITTESTS_CAPI_RUNTIME_FROMC_H
#define INLAY_UNITTESTS_CAPI_RUNTIME_FROMC_H

#ifdef __cplusplus
extern "C" {
#endif

/// Run tests with the file of a program that copies x to y and computes the sine of four zeros.
const char *runFromC(const char *path);
const char *failFromC(const char *path);

#ifdef __cplusplus
}
#endif

#endif // INLAY_UNITTESTS_CAPI_RUNTIME_FROMC_H
