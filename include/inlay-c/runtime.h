// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running compiled programs from C, and from languages that call C: libinlay_runtime.so. It needs neither the compiler
// nor LLVM nor Python.
//
// Every function is safe from several threads, a program may be called by several at a time, and programs share the
// device that they run on. Strings are UTF-8 that ends in 0. Functions that can fail return a status; the sentence that
// belongs to it is kept for the thread that called.

#ifndef INLAY_C_RUNTIME_H
#define INLAY_C_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INLAY_RUNTIME_API __attribute__((visibility("default")))

/// Of this header. A library of another number doesn't fit it.
#define INLAY_RUNTIME_ABI 1

typedef enum InlayStatus {
  InlayStatusOk = 0,
  InlayStatusInvalidArgument = 1,   ///< a tensor, an option or a file is wrong
  InlayStatusNotFound = 2,          ///< a file, a device or a symbol is missing
  InlayStatusResourceExhausted = 3, ///< out of memory, of the host or the device
  InlayStatusDeviceLost = 4,        ///< the device stopped answering; results are void
  InlayStatusUnavailable = 5,       ///< no driver, device or processor that can run the program
  InlayStatusStopped = 6,           ///< a loop ran too long, or the caller gave up
  InlayStatusInternal = 7           ///< a fault of the runtime
} InlayStatus;

#ifdef __cplusplus
#define INLAY_ENUM_BASE : int // any number that a caller casts is a value
#else
#define INLAY_ENUM_BASE
#endif

typedef enum InlayElement INLAY_ENUM_BASE {
  InlayElementBool = 0, ///< a byte, 0 or 1
  InlayElementI8 = 1,
  InlayElementI16 = 2,
  InlayElementI32 = 3,
  InlayElementI64 = 4,
  InlayElementF16 = 5,
  InlayElementBF16 = 6,
  InlayElementF32 = 7,
  InlayElementF64 = 8
} InlayElement;

/// The number INLAY_RUNTIME_ABI of the library.
INLAY_RUNTIME_API int inlayRuntimeAbi(void);
/// The version of Inlay that the library is of: "0.1.0".
INLAY_RUNTIME_API const char *inlayRuntimeVersion(void);
/// What was wrong at the last call of this thread that failed; empty if none did. Valid until this thread's next call.
INLAY_RUNTIME_API const char *inlayLastError(void);
/// "float32"; null for a number that is none.
INLAY_RUNTIME_API const char *inlayElementName(InlayElement element);
/// Bytes of one element; 0 for a number that is none.
INLAY_RUNTIME_API size_t inlayElementSize(InlayElement element);

//===-- Loading -------------------------------------------------------------------------------------------------===//

/// A loaded program.
typedef struct InlayProgram InlayProgram;

/// How a file is loaded. Start from `inlayOpenOptions()`. Pointers are needed during the call of `inlayProgramOpen`
/// alone, but for `userData` and the callbacks, which the program keeps.
typedef struct InlayOpenOptions {
  size_t size; ///< of this struct, so that libraries can tell what their callers know of
  /// A number or a part of a name; null for INLAY_DEVICE or the best that can run the program. "none": the host runs
  /// all of it, if it was compiled with recovery.
  const char *device;
  /// An Ed25519 public key in PEM: the file must be signed by its owner. Null for what INLAY_PUBLIC_KEY names, if any.
  const char *publicKeyFile;
  /// Whether a failure of the device ends a call with an error, instead of in running what failed on the host.
  bool withoutRecovery;
  /// Called with a sentence when the program goes on after a failure; from any thread that calls, or
  /// from one of the runtime's own, which tries the device again. May be null.
  void (*notice)(const char *text, void *userData);
  /// Asked a few times a second during loops: true stops the call. May be null.
  bool (*stop)(void *userData);
  void *userData;
} InlayOpenOptions;

/// The defaults.
INLAY_RUNTIME_API InlayOpenOptions inlayOpenOptions(void);

/// Loads a file that `inlay.CompiledModule.save` or `inlay-compile` wrote. `options` may be null. On failure `program`
/// is null.
INLAY_RUNTIME_API InlayStatus inlayProgramOpen(const char *path, const InlayOpenOptions *options,
                                               InlayProgram **program);

/// Waits until all that opening left to other threads is done: a device's kernels, which are made while the caller
/// goes on. The first call waits for them otherwise. An error as that of a call.
INLAY_RUNTIME_API InlayStatus inlayProgramWait(InlayProgram *program);

/// Frees the program; not while a call runs. Null does nothing.
INLAY_RUNTIME_API void inlayProgramClose(InlayProgram *program);

//===-- What a program takes and gives --------------------------------------------------------------------------===//

/// An input or a result. What it points to lives as long as the program.
typedef struct InlayTensorInfo {
  const char *name;
  InlayElement element;
  size_t rank;
  const int64_t *dims; ///< -1 where calls may differ
  const char *type;    ///< with the names of such dims: "float32[batch x 10]"
} InlayTensorInfo;

INLAY_RUNTIME_API size_t inlayProgramInputCount(const InlayProgram *program);
INLAY_RUNTIME_API size_t inlayProgramOutputCount(const InlayProgram *program);
INLAY_RUNTIME_API InlayStatus inlayProgramInput(const InlayProgram *program, size_t number, InlayTensorInfo *info);
INLAY_RUNTIME_API InlayStatus inlayProgramOutput(const InlayProgram *program, size_t number, InlayTensorInfo *info);

/// The device that the program runs on; empty if all of it runs on the host.
INLAY_RUNTIME_API const char *inlayProgramDevice(const InlayProgram *program);
/// The partition report, JSON: what runs where, and why. Empty if the file has none.
INLAY_RUNTIME_API const char *inlayProgramReport(const InlayProgram *program);
/// JSON of whoever saved the file. Empty if there is none.
INLAY_RUNTIME_API const char *inlayProgramMetadata(const InlayProgram *program);

//===-- Calls ---------------------------------------------------------------------------------------------------===//

/// Dense row-major elements in memory of the caller, as many as `dims` say.
typedef struct InlayTensor {
  void *data;
  InlayElement element;
  size_t rank;
  const int64_t *dims;
} InlayTensor;

/// The dims of result `number` for inputs of these dims (their data isn't looked at): `rank` is as many of them as
/// there are, of which the first `capacity` are written to `dims`.
INLAY_RUNTIME_API InlayStatus inlayProgramOutputDims(const InlayProgram *program, const InlayTensor *inputs,
                                                     size_t inputCount, size_t number, int64_t *dims, size_t capacity,
                                                     size_t *rank);

/// Reads the inputs and writes the results, into memory that the caller has made for them. All are checked first.
/// The caller has all memory back when this returns.
INLAY_RUNTIME_API InlayStatus inlayProgramCall(InlayProgram *program, const InlayTensor *inputs, size_t inputCount,
                                               const InlayTensor *outputs, size_t outputCount);

/// Keeps the memory of an input until `release(object)` is called, which is once, from any thread: as a rule before
/// the call that it was given to returns, whatever that returns; never if the device hangs, which may go on reading.
/// A null `release` owns nothing.
typedef struct InlayOwner {
  void *object;
  void (*release)(void *object);
} InlayOwner;

/// A `release` for those who would rather look than be called: sets the bool at `object`, which is to live as long as
/// the memory.
INLAY_RUNTIME_API void inlayMarkReleased(void *object);

/// A result in memory of the library's, which lives until it is freed: longer than the program, if need be.
typedef struct InlayResult InlayResult;

/// As `inlayProgramCall`, for large tensors without copies: a device that shares memory with the host reads large
/// inputs that have an owner in place, and writes results where they stay. `owners` has one for each input, or is null.
/// `results` has place for `resultCount`, as many as the program has; they are null after a failure.
INLAY_RUNTIME_API InlayStatus inlayProgramRun(InlayProgram *program, const InlayTensor *inputs,
                                              const InlayOwner *owners, size_t inputCount, InlayResult **results,
                                              size_t resultCount);

/// The result's elements, which may be written, and dims: both live as long as it does. All zeros for null.
INLAY_RUNTIME_API InlayTensor inlayResultTensor(const InlayResult *result);

/// Frees the result; from any thread, also when the program is closed. Null does nothing.
INLAY_RUNTIME_API void inlayResultFree(InlayResult *result);

#ifdef __cplusplus
}
#endif

#endif // INLAY_C_RUNTIME_H
