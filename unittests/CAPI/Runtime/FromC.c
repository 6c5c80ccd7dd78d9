// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C program's use of runtime.h. Each function returns the first expectation that failed, or null.

#include "FromC.h"

#include "inlay-c/runtime.h"

#include <string.h>

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      return #condition;                                                                                               \
  } while (0)

const char *runFromC(const char *path) {
  InlayProgram *program = NULL;
  EXPECT(inlayRuntimeAbi() == INLAY_RUNTIME_ABI);
  EXPECT(inlayProgramOpen(path, NULL, &program) == InlayStatusOk);
  EXPECT(inlayProgramInputCount(program) == 1 && inlayProgramOutputCount(program) == 2);

  InlayTensorInfo info;
  EXPECT(inlayProgramInput(program, 0, &info) == InlayStatusOk);
  EXPECT(strcmp(info.name, "x") == 0 && strcmp(info.type, "float32[batch x 4]") == 0);
  EXPECT(info.element == InlayElementF32 && info.rank == 2 && info.dims[0] == -1 && info.dims[1] == 4);
  EXPECT(inlayProgramOutput(program, 1, &info) == InlayStatusOk);
  EXPECT(strcmp(info.name, "sine") == 0 && info.rank == 1 && info.dims[0] == 4);

  float x[2][4] = {{0, 0, 0, 0}, {5, 6, 7, 8}}, y[2][4], sine[4];
  const int64_t xDims[] = {2, 4}, sineDims[] = {4};
  InlayTensor input = {x, InlayElementF32, 2, xDims};
  InlayTensor outputs[] = {{y, InlayElementF32, 2, xDims}, {sine, InlayElementF32, 1, sineDims}};
  int64_t dims[2];
  size_t rank;
  EXPECT(inlayProgramOutputDims(program, &input, 1, 0, dims, 2, &rank) == InlayStatusOk);
  EXPECT(rank == 2 && dims[0] == 2 && dims[1] == 4);
  EXPECT(inlayProgramOutputDims(program, &input, 1, 0, dims, 1, &rank) == InlayStatusOk && rank == 2);
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 2) == InlayStatusOk);
  EXPECT(memcmp(x, y, sizeof(x)) == 0);
  EXPECT(sine[0] == 1 && sine[3] == 1);

  bool released = false;
  InlayOwner owner = {&released, inlayMarkReleased};
  InlayResult *results[2];
  EXPECT(inlayProgramRun(program, &input, &owner, 1, results, 2) == InlayStatusOk);
  EXPECT(released);
  inlayProgramClose(program);
  InlayTensor first = inlayResultTensor(results[0]), second = inlayResultTensor(results[1]);
  EXPECT(first.element == InlayElementF32 && first.rank == 2 && first.dims[0] == 2 && first.dims[1] == 4);
  EXPECT(memcmp(x, first.data, sizeof(x)) == 0);
  EXPECT(second.rank == 1 && ((float *)second.data)[3] == 1);
  inlayResultFree(results[1]);
  EXPECT(memcmp(x, first.data, sizeof(x)) == 0);
  inlayResultFree(results[0]);
  return NULL;
}

/// Checks that a call with wrong arguments releases its owners too.
static const char *failToRun(InlayProgram *program, InlayTensor input) {
  bool released[5] = {false, false, false, false, false};
  InlayOwner owners[5];
  for (int i = 0; i < 5; ++i) {
    owners[i].object = &released[i];
    owners[i].release = inlayMarkReleased;
  }
  InlayResult *results[2];
  EXPECT(inlayProgramRun(NULL, &input, &owners[0], 1, results, 2) == InlayStatusInvalidArgument);
  EXPECT(results[0] == NULL && results[1] == NULL && released[0]);
  EXPECT(inlayProgramRun(program, &input, &owners[1], 1, results, 1) == InlayStatusInvalidArgument);
  EXPECT(strcmp(inlayLastError(), "expected place for 2 results, but got 1") == 0 && released[1]);
  EXPECT(inlayProgramRun(program, &input, &owners[2], 1, NULL, 2) == InlayStatusInvalidArgument && released[2]);
  EXPECT(inlayProgramRun(program, NULL, &owners[3], 1, results, 2) == InlayStatusInvalidArgument && released[3]);
  input.rank = 1;
  EXPECT(inlayProgramRun(program, &input, &owners[4], 1, results, 2) == InlayStatusInvalidArgument && released[4]);
  EXPECT(strstr(inlayLastError(), "input 'x'"));
  EXPECT(inlayResultTensor(NULL).data == NULL);
  inlayResultFree(NULL);
  return NULL;
}

const char *failFromC(const char *path) {
  InlayProgram *program = (InlayProgram *)path;
  EXPECT(inlayProgramOpen("nowhere.inlay", NULL, &program) == InlayStatusNotFound);
  EXPECT(program == NULL && strstr(inlayLastError(), "nowhere.inlay"));
  EXPECT(inlayProgramOpen(NULL, NULL, &program) == InlayStatusInvalidArgument);
  EXPECT(strcmp(inlayLastError(), "expected a path, but got null") == 0);
  InlayOpenOptions options = inlayOpenOptions();
  options.size = 4096;
  EXPECT(inlayProgramOpen(path, &options, &program) == InlayStatusInvalidArgument);
  EXPECT(strstr(inlayLastError(), "but got 4096: start from inlayOpenOptions()"));

  InlayTensorInfo none;
  EXPECT(inlayProgramInputCount(NULL) == 0 && inlayProgramOutputCount(NULL) == 0);
  EXPECT(inlayProgramInput(NULL, 0, &none) == InlayStatusInvalidArgument);
  EXPECT(strcmp(inlayLastError(), "expected a program, but got null") == 0);
  EXPECT(inlayProgramOutput(NULL, 0, &none) == InlayStatusInvalidArgument);
  EXPECT(inlayProgramWait(NULL) == InlayStatusInvalidArgument);
  EXPECT(inlayProgramCall(NULL, NULL, 0, NULL, 0) == InlayStatusInvalidArgument);
  size_t rank;
  EXPECT(inlayProgramOutputDims(NULL, NULL, 0, 0, NULL, 0, &rank) == InlayStatusInvalidArgument);
  EXPECT(!*inlayProgramDevice(NULL) && !*inlayProgramReport(NULL) && !*inlayProgramMetadata(NULL));

  EXPECT(inlayProgramOpen(path, NULL, &program) == InlayStatusOk);
  InlayTensorInfo info;
  EXPECT(inlayProgramInput(program, 1, &info) == InlayStatusInvalidArgument);
  EXPECT(strcmp(inlayLastError(), "expected one of 1 inputs, but got 1") == 0);
  float data[8];
  const int64_t good[] = {2, 4}, wrong[] = {2, 3}, sineDims[] = {4};
  InlayTensor input = {data, InlayElementF32, 2, wrong};
  InlayTensor outputs[] = {{data, InlayElementF32, 2, good}, {data, InlayElementF32, 1, sineDims}};
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 2) == InlayStatusInvalidArgument);
  EXPECT(strstr(inlayLastError(), "input 'x'") && strstr(inlayLastError(), "float32[2x3]"));
  input.dims = good;
  const char *failed = failToRun(program, input);
  if (failed)
    return failed;
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 1) == InlayStatusInvalidArgument);
  EXPECT(inlayProgramCall(program, NULL, 1, outputs, 2) == InlayStatusInvalidArgument);
  input.data = NULL;
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 2) == InlayStatusInvalidArgument);
  input.data = data;
  input.rank = 1000;
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 2) == InlayStatusInvalidArgument);
  input.rank = 2;
  input.element = (InlayElement)77;
  EXPECT(inlayProgramCall(program, &input, 1, outputs, 2) == InlayStatusInvalidArgument);
  EXPECT(strcmp(inlayLastError(), "input 0: expected an element type, but got 77") == 0);
  EXPECT(inlayElementName((InlayElement)77) == NULL && inlayElementSize(InlayElementF64) == 8);
  inlayProgramClose(program);
  inlayProgramClose(NULL);
  return NULL;
}
