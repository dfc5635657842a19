// Replaces the global operator new and delete ([new.delete.single], [new.delete.array]),
// all forms: a sanitizer brings its own of each, and memory must be freed by the partner of what
// allocated it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/allocation_counter.h"

namespace laya::base {
namespace {

// Namespace-scope state, which the library otherwise forbids itself: operator new has no place to
// keep an object in.
std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> bytes{0};

void* count_and_take(std::size_t size, std::size_t alignment) {
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  const std::size_t wanted = size == 0 ? 1 : size;
  void* memory = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    memory = std::malloc(wanted);
  } else {
    // aligned_alloc wants a multiple of the alignment
    const std::size_t padded = (wanted + alignment - 1) / alignment * alignment;
    memory = padded < wanted ? nullptr : std::aligned_alloc(alignment, padded);
  }
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

std::uint64_t allocations_so_far() { return calls.load(std::memory_order_relaxed); }
std::uint64_t allocated_bytes_so_far() { return bytes.load(std::memory_order_relaxed); }

}  // namespace laya::base

void* operator new(std::size_t size) { return laya::base::count_and_take(size, 0); }
void* operator new[](std::size_t size) { return laya::base::count_and_take(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return laya::base::count_and_take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return laya::base::count_and_take(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
