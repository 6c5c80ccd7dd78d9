// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The costs of work on a target: throughput per kind of op, fixed costs, and transfers to and from its memory. Plain
// data; times are in seconds.

#ifndef INLAY_SUPPORT_TARGETCOSTS_H
#define INLAY_SUPPORT_TARGETCOSTS_H

#include <array>
#include <cstdint>
#include <string>

namespace inlay {

/// Kinds of ops with different throughput. The work of products is counted in FLOP, that of all others in bytes read
/// and written.
enum class WorkKind : uint8_t { Matmul, Convolution, Elementwise, Reduction, Layout, Other };
inline constexpr unsigned kWorkKinds = 6;

/// Returns the spelling of the kind in files: "matmul".
const char *stringifyWorkKind(WorkKind kind);

inline bool isProduct(WorkKind kind) { return kind == WorkKind::Matmul || kind == WorkKind::Convolution; }

/// The work of one op. An op that only names a value (a list, a constant) has none.
struct OpWork {
  WorkKind kind = WorkKind::Other;
  double flops = 0, bytes = 0;
  bool isNothing = false;
};

/// A transfer between the host's memory and a target's, in one direction. Free by default: the target works in the
/// host's memory.
struct Transfer {
  double bytesPerSecond = 0; ///< 0 if transfers are free.
  double seconds = 0;        ///< Fixed time per value.

  bool isFree() const { return bytesPerSecond == 0; }
  double estimate(double bytes) const { return isFree() ? 0 : seconds + bytes / bytesPerSecond; }
};

struct TargetCosts {
  /// By kind: FLOP per second for products, else bytes per second.
  std::array<double, kWorkKinds> throughput{};
  double opSeconds = 0;     ///< Fixed time per op.
  double launchSeconds = 0; ///< Time per segment.
  Transfer in, out;         ///< To the memory of the target, and from it.

  double getThroughput(WorkKind kind) const { return throughput[static_cast<unsigned>(kind)]; }
  /// Returns the time of one op. A product takes at least the time of its bytes at the throughput of elementwise ops.
  double estimate(const OpWork &work) const;
};

/// Kinds of devices with different default costs.
enum class DeviceKind : uint8_t { HostCpu, Framework, SoftwareVulkan, IntegratedGpu, DiscreteGpu };

/// Returns rough costs for a device of that kind, for use without a cost model. See docs/guide/cost-model.md.
TargetCosts getDefaultCosts(DeviceKind kind);

/// Formats a time: "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string formatSeconds(double seconds);

} // namespace inlay

#endif // INLAY_SUPPORT_TARGETCOSTS_H
