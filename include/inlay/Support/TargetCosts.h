// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What work costs on a target: throughput per kind of op, fixed costs, and the way of values to its memory and back.
// Plain data; times are in seconds.

#ifndef INLAY_SUPPORT_TARGETCOSTS_H
#define INLAY_SUPPORT_TARGETCOSTS_H

#include <array>
#include <cstdint>
#include <string>

namespace inlay {

/// Kinds of ops that differ in how fast a target gets through them. Products are counted in FLOP, all others in bytes
/// read and written.
enum class WorkKind : uint8_t { Matmul, Convolution, Elementwise, Reduction, Layout, Other };
inline constexpr unsigned kWorkKinds = 6;

/// The kind as files spell it: "matmul".
const char *stringifyWorkKind(WorkKind kind);

inline bool isProduct(WorkKind kind) { return kind == WorkKind::Matmul || kind == WorkKind::Convolution; }

/// What an op has to do. An op that only names a value (a list, a constant) does nothing.
struct OpWork {
  WorkKind kind = WorkKind::Other;
  double flops = 0, bytes = 0;
  bool isNothing = false;
};

/// One direction between the host's memory and a target's. Free by default: the target works in the host's memory.
struct Transfer {
  double bytesPerSecond = 0; ///< 0 for free
  double seconds = 0;        ///< per value, whatever its size

  bool isFree() const { return bytesPerSecond == 0; }
  double estimate(double bytes) const { return isFree() ? 0 : seconds + bytes / bytesPerSecond; }
};

struct TargetCosts {
  std::array<double, kWorkKinds> throughput{}; ///< by kind: FLOP per second for products, else bytes per second
  double opSeconds = 0;                        ///< per op, whatever its size
  double launchSeconds = 0;                    ///< per segment
  Transfer in, out;

  double getThroughput(WorkKind kind) const { return throughput[static_cast<unsigned>(kind)]; }
  /// The time of one op. A product takes no less than its bytes do at the throughput of elementwise ops.
  double estimate(const OpWork &work) const;
};

/// What is told apart where nothing was measured.
enum class DeviceKind : uint8_t { HostCpu, Framework, SoftwareVulkan, IntegratedGpu, DiscreteGpu };

/// Round figures for a device of the kind, for where there is no cost model. See docs/guide/cost-model.md.
TargetCosts getDefaultCosts(DeviceKind kind);

/// A time for people: "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string formatSeconds(double seconds);

} // namespace inlay

#endif // INLAY_SUPPORT_TARGETCOSTS_H
