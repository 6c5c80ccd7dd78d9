// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostJit.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace inlay;

namespace {
class OrcLibrary : public rt::HostLibrary {
public:
  explicit OrcLibrary(std::unique_ptr<llvm::orc::LLJIT> library) : jit(std::move(library)) {
    // What a lookup's own error leaves out, such as the symbols that are missing.
    jit->getExecutionSession().setErrorReporter([this](llvm::Error error) {
      std::lock_guard<std::mutex> lock(mutex);
      details += ": " + llvm::toString(std::move(error));
    });
  }

  rt::StatusOr<rt::HostEntry> lookup(const std::string &symbol) override {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookup(symbol);
    if (!address) {
      std::string error = llvm::toString(address.takeError());
      std::lock_guard<std::mutex> lock(mutex);
      return rt::Status(rt::StatusCode::NotFound, "host function '" + symbol + "': " + error + details);
    }
    return address->toPtr<rt::HostEntry>();
  }

private:
  std::mutex mutex;
  std::string details;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
} // namespace

rt::StatusOr<std::shared_ptr<rt::HostLibrary>> inlay::linkHostCode(const rt::HostCode &code) {
  if (code.objects.empty())
    return std::shared_ptr<rt::HostLibrary>();
  static std::once_flag once;
  std::call_once(once, [] { llvm::InitializeNativeTarget(); });
  auto fail = [](llvm::Error error) {
    return rt::Status(rt::StatusCode::Internal, "can't link host code: " + llvm::toString(std::move(error)));
  };
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return fail(jit.takeError());
  // Library functions (libm) come from this process.
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  const std::vector<char> &bytes = code.objects.front().code;
  auto object = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bytes.data(), bytes.size()), "host");
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return fail(std::move(error));
  return std::shared_ptr<rt::HostLibrary>(std::make_shared<OrcLibrary>(std::move(*jit)));
}
