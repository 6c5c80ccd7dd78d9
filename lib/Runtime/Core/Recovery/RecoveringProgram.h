// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RecoveringProgram: the program that `loadRecovering` creates. It has one current executor. After a failure an
// executor over the plan with some engines moved to the host replaces it.

#ifndef INLAY_LIB_RUNTIME_CORE_RECOVERY_RECOVERINGPROGRAM_H
#define INLAY_LIB_RUNTIME_CORE_RECOVERY_RECOVERINGPROGRAM_H

#include "Quarantine.h"
#include "Runtime/Core/Execute/Executor.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <condition_variable>
#include <pthread.h>
#include <unistd.h>

namespace inlay::rt {

class RecoveringProgram final : public Program {
public:
  RecoveringProgram(ProgramState loaded, RecoveryOptions options);
  ~RecoveringProgram() override;

  /// Builds the first version. Not thread-safe.
  Status load();

  Status wait() override;
  StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const override;
  StatusOr<MemoryUse> memory(const InputDims &inputs) const override;
  StatusOr<std::shared_ptr<Session>> makeSession() override;
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, Session *session) override;
  StatusOr<std::vector<TensorView>> callForResults(const std::vector<TensorView> &inputs, Session *session) override;
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace,
                                             Session *session) override;
  Status replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) override;
  void stopWhen(StopCheck check) override;
  void limitTemporaries(TemporaryLimits limits) override;
  const Plan &plan() const override { return *plan_; }

private:
  using Version = std::shared_ptr<Executor>;

  /// Runs `attempt` on the current version, and again on others while the device fails.
  template <typename Attempt>
  Status runRecovering(Attempt attempt);
  template <typename Attempt>
  Status tryVersions(Attempt attempt);
  /// Does the same for attempts that return a value.
  template <typename Value, typename Attempt>
  StatusOr<Value> makeRecovering(Attempt attempt);
  Version current() const;
  Status renewAfterFork() const;
  Status replaceAll(const Executor::Replacements &replacements);

  // The following functions require that `state_` is locked.
  StatusOr<Version> build(const std::vector<uint32_t> &moved, Failure &failure);
  std::vector<uint32_t> heldEngines() const;
  void install(Version version);
  bool quarantine(const Status &status, const Failure &failure);
  void dropBroken();
  Status replaceVersion(const Status &status, const Failure &failure, std::vector<RecoveryNotice> &notices);
  void dropDevice();
  void keep(const Resources &resources, bool usesDevice);
  void startThread();
  std::string describeRetry() const;
  std::string nameUnmoved(const Failure &failure) const;
  std::string nameSegments(const std::vector<uint32_t> &engines) const;

  /// Returns the version to run after `failed` has failed, or null with the reason.
  Version recover(Version &&failed, const Status &status, Failure failure, int tries, std::string &reason);
  void notify(const std::vector<RecoveryNotice> &notices) const;

  // The following functions run on the recovery thread.
  void watch();
  void watchOnce(std::unique_lock<std::mutex> &lock);
  void loseAgain();
  bool reopen(std::unique_lock<std::mutex> &lock);
  std::vector<uint32_t> loadEngines(std::unique_lock<std::mutex> &lock, const std::vector<uint32_t> &due);
  void tryDevice(std::unique_lock<std::mutex> &lock, std::vector<RecoveryNotice> &notices);

  const std::shared_ptr<const Plan> plan_;
  const RecoveryOptions options_;
  const std::shared_ptr<const void> identity_ = std::make_shared<char>(); ///< For sessions.
  std::vector<uint32_t> launched_;                                        ///< Engines that the plan launches.
  bool canMoveAll_ = true;                                                ///< True if all of them have a host version.

  CallLock running_; ///< Shared by calls; taken exclusively to replace constants; locked before `state_`.
  mutable ForkDetector fork_;
  mutable bool isInterrupted_ = false; ///< True in a child of a fork during which a thread had locked `state_`.
  mutable std::mutex pointer_;
  Version current_; ///< Guarded by `pointer_`; changed only with `state_` locked too.

  mutable std::mutex state_; ///< Locked while a version is built; guards the following members.
  ProgramState base_;        ///< Resources that versions are built from; the device is null once it is lost.
  Quarantine quarantine_;
  std::vector<std::shared_ptr<void>> garbage_; ///< Objects that the thread destroys, because that may take long.
  pthread_t thread_;
  bool hasThread_ = false;
  const pid_t process_ = getpid();
  /// Leaked in a child of fork. Its destructor would wait for a waiting thread that exists only in the parent.
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  bool stops_ = false;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_RECOVERY_RECOVERINGPROGRAM_H
