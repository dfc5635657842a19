// Counts calls of operator new, to prove that a path allocates nothing. A program that links the
// object library `laya_count_allocations` has its operator new replaced: tests, benchmarks, and
// `laya` itself for `laya bench` (one relaxed addition a call). Libraries that others embed never
// link it.
//
//   base::AllocationScope scope;
//   engine.complete(…);
//   EXPECT_EQ(scope.count(), 0u);
#pragma once

#include <cstdint>

namespace laya::base {

/// Calls of any operator new in this process so far, all threads. malloc() called directly is not
/// seen.
std::uint64_t allocations_so_far();

/// Bytes asked for by those calls.
std::uint64_t allocated_bytes_so_far();

/// The calls since its construction.
class AllocationScope {
 public:
  AllocationScope() : calls_(allocations_so_far()), bytes_(allocated_bytes_so_far()) {}
  std::uint64_t count() const { return allocations_so_far() - calls_; }
  std::uint64_t bytes() const { return allocated_bytes_so_far() - bytes_; }

 private:
  std::uint64_t calls_;
  std::uint64_t bytes_;
};

}  // namespace laya::base
