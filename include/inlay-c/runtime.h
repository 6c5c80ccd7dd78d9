// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface to compiled programs, also for languages that call C: libinlay_runtime.so. It needs neither the
// compiler nor LLVM nor Python.
//
// All functions are thread-safe. A program may be called from several threads at a time, and programs share the device
// that they run on. Strings are UTF-8 and zero-terminated. Functions that can fail return a status. The message of the
// last failure is kept per thread.

#ifndef INLAY_C_RUNTIME_H
#define INLAY_C_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INLAY_RUNTIME_API __attribute__((visibility("default")))

/// The version of the interface in this header. It must be equal to that of the library.
#define INLAY_RUNTIME_ABI 1

typedef enum InlayStatus {
  InlayStatusOk = 0,
  InlayStatusInvalidArgument = 1,   ///< A tensor, an option or a file is wrong.
  InlayStatusNotFound = 2,          ///< A file, a device or a symbol is missing.
  InlayStatusResourceExhausted = 3, ///< Out of host or device memory.
  InlayStatusDeviceLost = 4,        ///< The device stopped answering; its results are invalid.
  InlayStatusUnavailable = 5,       ///< No driver, device or processor can run the program.
  InlayStatusStopped = 6,           ///< A loop exceeded its limit, or the caller stopped the call.
  InlayStatusInternal = 7           ///< A bug in the runtime.
} InlayStatus;

#ifdef __cplusplus
#define INLAY_ENUM_BASE : int // makes a cast from any number well defined
#else
#define INLAY_ENUM_BASE
#endif

typedef enum InlayElement INLAY_ENUM_BASE {
  InlayElementBool = 0, ///< One byte, 0 or 1.
  InlayElementI8 = 1,
  InlayElementI16 = 2,
  InlayElementI32 = 3,
  InlayElementI64 = 4,
  InlayElementF16 = 5,
  InlayElementBF16 = 6,
  InlayElementF32 = 7,
  InlayElementF64 = 8
} InlayElement;

/// Returns INLAY_RUNTIME_ABI of the library.
INLAY_RUNTIME_API int inlayRuntimeAbi(void);
/// Returns the version of Inlay that the library belongs to: "0.1.0".
INLAY_RUNTIME_API const char *inlayRuntimeVersion(void);
/// Returns the message of this thread's last call that failed; empty if none did. Valid until this thread's next call.
INLAY_RUNTIME_API const char *inlayLastError(void);
/// Returns the name of an element type, "float32"; null if the number is not an element type.
INLAY_RUNTIME_API const char *inlayElementName(InlayElement element);
/// Returns the bytes of one element; 0 if the number is not an element type.
INLAY_RUNTIME_API size_t inlayElementSize(InlayElement element);

//===-- Loading -------------------------------------------------------------------------------------------------===//

/// A loaded program.
typedef struct InlayProgram InlayProgram;

/// Options for loading a file. Start from `inlayOpenOptions()`. The strings are needed only during the call of
/// `inlayProgramOpen`. The program keeps `userData` and the callbacks.
typedef struct InlayOpenOptions {
  size_t size; ///< Size of this struct, so that the library knows which members its caller has.
  /// A number or a part of a device name. Null: INLAY_DEVICE, or the best device that can run the program. "none": the
  /// host runs all segments, if the program was compiled with recovery.
  const char *device;
  /// Path of an Ed25519 public key in PEM. The file must have a signature that this key verifies. Null: the path in
  /// INLAY_PUBLIC_KEY, if set.
  const char *publicKeyFile;
  /// If true, a failure of the device ends a call with an error. If false, the failed segments run on the host.
  bool withoutRecovery;
  /// Called with a message when the program continues after a failure. Called from any thread that calls the program,
  /// or from the runtime's thread that tries the device again. May be null.
  void (*notice)(const char *text, void *userData);
  /// Called a few times a second during loops; returns true to stop the call. May be null.
  bool (*stop)(void *userData);
  void *userData;
} InlayOpenOptions;

/// Returns the default options.
INLAY_RUNTIME_API InlayOpenOptions inlayOpenOptions(void);

/// Loads a file that `inlay.CompiledModule.save` or `inlay-compile` wrote. `options` may be null. `program` is set to
/// null on failure.
INLAY_RUNTIME_API InlayStatus inlayProgramOpen(const char *path, const InlayOpenOptions *options,
                                               InlayProgram **program);

/// Waits for the work that opening left to other threads: the creation of the device's kernels. Otherwise the first
/// call waits. The status is the same as that of a call.
INLAY_RUNTIME_API InlayStatus inlayProgramWait(InlayProgram *program);

/// Frees the program. No call may be running. Null is ignored.
INLAY_RUNTIME_API void inlayProgramClose(InlayProgram *program);

//===-- Inputs, results and properties of a program -------------------------------------------------------------===//

/// An input or a result. The pointers are valid as long as the program.
typedef struct InlayTensorInfo {
  const char *name;
  InlayElement element;
  size_t rank;
  const int64_t *dims; ///< -1 for a dim that may differ between calls.
  const char *type;    ///< The type with the names of such dims: "float32[batch x 10]".
} InlayTensorInfo;

/// Return the number of inputs, results or states.
INLAY_RUNTIME_API size_t inlayProgramInputCount(const InlayProgram *program);
INLAY_RUNTIME_API size_t inlayProgramOutputCount(const InlayProgram *program);
INLAY_RUNTIME_API size_t inlayProgramStateCount(const InlayProgram *program);
/// Describe input, result or state `number` in `info`. InlayStatusInvalidArgument if there is none of that number.
INLAY_RUNTIME_API InlayStatus inlayProgramInput(const InlayProgram *program, size_t number, InlayTensorInfo *info);
INLAY_RUNTIME_API InlayStatus inlayProgramOutput(const InlayProgram *program, size_t number, InlayTensorInfo *info);
INLAY_RUNTIME_API InlayStatus inlayProgramState(const InlayProgram *program, size_t number, InlayTensorInfo *info);

/// Returns the name of the device that the program runs on; empty if all of it runs on the host.
INLAY_RUNTIME_API const char *inlayProgramDevice(const InlayProgram *program);
/// Returns the partition report as JSON: the target of each op and the reason. Empty if the file has none.
INLAY_RUNTIME_API const char *inlayProgramReport(const InlayProgram *program);
/// Returns the JSON metadata that was added when the file was saved. Empty if there is none.
INLAY_RUNTIME_API const char *inlayProgramMetadata(const InlayProgram *program);

//===-- Calls ---------------------------------------------------------------------------------------------------===//

/// A tensor in memory of the caller: dense row-major elements, as many as `dims` say.
typedef struct InlayTensor {
  void *data;
  InlayElement element;
  size_t rank;
  const int64_t *dims;
} InlayTensor;

/// Computes the dims of result `number` for inputs of these dims; the inputs' data is not read. Sets `rank` to the
/// number of dims and writes the first `capacity` of them to `dims`.
INLAY_RUNTIME_API InlayStatus inlayProgramOutputDims(const InlayProgram *program, const InlayTensor *inputs,
                                                     size_t inputCount, size_t number, int64_t *dims, size_t capacity,
                                                     size_t *rank);

/// Reads the inputs and writes the results into memory that the caller allocated. All tensors are checked first.
/// The library does not use the memory after the call.
INLAY_RUNTIME_API InlayStatus inlayProgramCall(InlayProgram *program, const InlayTensor *inputs, size_t inputCount,
                                               const InlayTensor *outputs, size_t outputCount);

/// Owner of an input's memory. `release(object)` is called once, from any thread, when the memory is no longer used.
/// Usually that is before the call that got the input returns, with or without an error. It is never called if the
/// device hangs, because the device may go on reading. A null `release` means that there is no owner.
typedef struct InlayOwner {
  void *object;
  void (*release)(void *object);
} InlayOwner;

/// A `release` for callers that poll: sets the bool at `object` to true. The bool must live as long as the memory.
INLAY_RUNTIME_API void inlayMarkReleased(void *object);

/// A result in memory of the library. It lives until it is freed and may outlive the program.
typedef struct InlayResult InlayResult;

/// Runs the program like `inlayProgramCall`, but without copies of large tensors: a device that shares memory with the
/// host reads large inputs that have an owner in place, and writes results where they stay. `owners` has one element
/// per input, or is null. `results` must have room for `resultCount` results, the number that the program has. They are
/// set to null on failure.
INLAY_RUNTIME_API InlayStatus inlayProgramRun(InlayProgram *program, const InlayTensor *inputs,
                                              const InlayOwner *owners, size_t inputCount, InlayResult **results,
                                              size_t resultCount);

/// Returns the result's elements, which may be written, and dims. Both live as long as the result. All zeros for null.
INLAY_RUNTIME_API InlayTensor inlayResultTensor(const InlayResult *result);

/// Frees the result. May be called from any thread, also after the program was closed. Null is ignored.
INLAY_RUNTIME_API void inlayResultFree(InlayResult *result);

//===-- State ---------------------------------------------------------------------------------------------------===//

/// The states that a sequence of calls reads and writes. Sessions of a program are independent of each other. A session
/// serves one call at a time: a second one fails. After a call that failed while it wrote a state, calls fail until the
/// session is reset or all its states are written.
typedef struct InlaySession InlaySession;

/// Makes a session, which calls of a program with states need. `session` is set to null on failure.
INLAY_RUNTIME_API InlayStatus inlaySessionMake(InlayProgram *program, InlaySession **session);

/// Frees the session. No call of it may be running. It may outlive the program. Null is ignored.
INLAY_RUNTIME_API void inlaySessionFree(InlaySession *session);

/// Frees all states. The next call starts with zeros, and its inputs choose the dims.
INLAY_RUNTIME_API InlayStatus inlaySessionReset(InlaySession *session);

/// Copies a state into a result, which is set to null on failure.
INLAY_RUNTIME_API InlayStatus inlaySessionRead(const InlaySession *session, size_t number, InlayResult **state);

/// Replaces a state.
INLAY_RUNTIME_API InlayStatus inlaySessionWrite(InlaySession *session, size_t number, const InlayTensor *value);

/// Runs the program like `inlayProgramRun`, with the states of a session.
INLAY_RUNTIME_API InlayStatus inlaySessionRun(InlaySession *session, InlayProgram *program, const InlayTensor *inputs,
                                              const InlayOwner *owners, size_t inputCount, InlayResult **results,
                                              size_t resultCount);

#ifdef __cplusplus
}
#endif

#endif // INLAY_C_RUNTIME_H
