// Attention over slots against sums in double: every table, storage, head shape and list length;
// then what the decoder builds on: the same bits wherever the slots lie and however heads are
// split.
#include "simd/kv_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "simd/ops.h"
#include "simd/test_data.h"

namespace laya::simd {
namespace {

constexpr KvStorage kStorages[] = {KvStorage::Fp32, KvStorage::Fp16, KvStorage::Int8};

const char* name_of(KvStorage storage) {
  return storage == KvStorage::Fp32 ? "fp32" : storage == KvStorage::Fp16 ? "fp16" : "int8";
}

// A plane with exactly the memory it needs, so that ASan sees a read past it.
struct Plane {
  Plane(KvStorage storage, std::size_t kv_heads, std::size_t slots, std::size_t head_dim)
      : bytes(kv_plane_bytes(storage, kv_heads, slots, head_dim)),
        scales(kv_plane_scales(storage, kv_heads, slots), 0.0f) {
    view = {storage,  kv_heads,     slots,
            head_dim, bytes.data(), scales.empty() ? nullptr : scales.data()};
  }
  std::vector<std::byte> bytes;
  std::vector<float> scales;
  KvPlane view;
};

struct Shape {
  std::size_t heads, kv_heads, head_dim;
};

// SmolLM2, Gemma, Qwen, every number of heads in a group, and dimensions that fill no 64.
constexpr Shape kShapes[] = {{9, 3, 64}, {4, 1, 256}, {14, 2, 64}, {6, 6, 48},
                             {2, 1, 16}, {5, 1, 32},  {8, 2, 80},  {16, 2, 128}};

struct Attended {
  Attended(KvStorage storage, const Shape& s, std::size_t slots)
      : shape(s),
        keys(storage, s.kv_heads, slots, s.head_dim),
        values(storage, s.kv_heads, slots, s.head_dim) {}

  // Token t of the sequence goes into `slot`; tokens are the same whatever the slots.
  void put(const Kernels& kernels, std::size_t t, std::size_t slot) {
    Numbers numbers(t * 77 + 5);
    const std::size_t n = shape.kv_heads * shape.head_dim;
    store_kv(kernels, keys.view, slot, numbers.normal(n, 1.0f));
    store_kv(kernels, values.view, slot, numbers.normal(n, 1.0f));
  }

  std::vector<float> run(const Kernels& kernels, std::span<const std::uint32_t> slots,
                         std::size_t first, std::size_t last) const {
    const std::size_t n = shape.heads * shape.head_dim;
    const std::vector<float> query = Numbers(3).normal(n, 1.0f);
    std::vector<float> out(n, 99.0f);
    std::vector<float> scratch(kv_attention_scratch(slots.size()));
    kv_attention(kernels, {keys.view, values.view, shape.heads, first, last, scale(), slots.data(),
                           slots.size(), query.data(), out.data(), scratch.data()});
    return out;
  }
  std::vector<float> run(const Kernels& kernels, std::span<const std::uint32_t> slots) const {
    return run(kernels, slots, 0, shape.heads);
  }

  // The formula, in double.
  std::vector<double> want(std::span<const std::uint32_t> slots) const {
    const std::size_t n = shape.head_dim;
    const std::vector<float> query = Numbers(3).normal(shape.heads * n, 1.0f);
    std::vector<double> out(shape.heads * n, 0.0);
    for (std::size_t h = 0; h < shape.heads; ++h) {
      const std::size_t kv_head = h / (shape.heads / shape.kv_heads);
      std::vector<std::vector<float>> k(slots.size(), std::vector<float>(n)), v = k;
      std::vector<double> share(slots.size(), 0.0);
      for (std::size_t j = 0; j < slots.size(); ++j) {
        load_kv(scalar_kernels(), keys.view, kv_head, slots[j], k[j]);
        load_kv(scalar_kernels(), values.view, kv_head, slots[j], v[j]);
        for (std::size_t i = 0; i < n; ++i) {
          share[j] += static_cast<double>(query[h * n + i]) * k[j][i];
        }
        share[j] *= scale();
      }
      const double largest = *std::max_element(share.begin(), share.end());
      double total = 0.0;
      for (double& s : share) total += s = std::exp(s - largest);
      for (std::size_t j = 0; j < slots.size(); ++j) {
        for (std::size_t i = 0; i < n; ++i) out[h * n + i] += share[j] / total * v[j][i];
      }
    }
    return out;
  }

  float scale() const { return 1.0f / std::sqrt(static_cast<float>(shape.head_dim)); }

  Shape shape;
  Plane keys, values;
};

std::vector<std::uint32_t> first_slots(std::size_t count) {
  std::vector<std::uint32_t> slots(count);
  std::iota(slots.begin(), slots.end(), 0u);
  return slots;
}

TEST(KvAttention, IsTheFormulaForEveryTableStorageAndShape) {
  for (const KvStorage storage : kStorages) {
    for (const Shape& shape : kShapes) {
      Attended a(storage, shape, 70);
      for (std::size_t t = 0; t < 70; ++t) a.put(scalar_kernels(), t, t);
      for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 70u}) {
        const std::vector<std::uint32_t> slots = first_slots(count);
        const std::vector<double> want = a.want(slots);
        for (const Kernels* table : available_kernels()) {
          SCOPED_TRACE(testing::Message()
                       << table->name << " " << name_of(storage) << " heads " << shape.heads << "/"
                       << shape.kv_heads << " x " << shape.head_dim << " count " << count);
          const std::vector<float> got = a.run(*table, slots);
          for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 4e-6) << i;
        }
      }
    }
  }
}

TEST(KvAttention, StoredRowsAreAsNearAsTheirStorageAllows) {
  for (const Kernels* table : available_kernels()) {
    for (const KvStorage storage : kStorages) {
      SCOPED_TRACE(testing::Message() << table->name << " " << name_of(storage));
      Plane plane(storage, 2, 3, 48);
      Numbers numbers(8);
      std::vector<float> row = numbers.normal(2 * 48, 2.0f);
      store_kv(*table, plane.view, 1, row);
      std::vector<float> got(48);
      for (std::size_t h = 0; h < 2; ++h) {
        load_kv(*table, plane.view, h, 1, got);
        float largest = 0.0f;
        for (std::size_t i = 0; i < 48; ++i)
          largest = std::max(largest, std::fabs(row[h * 48 + i]));
        for (std::size_t i = 0; i < 48; ++i) {
          const float x = row[h * 48 + i];
          const float allowed = storage == KvStorage::Fp32   ? 0.0f
                                : storage == KvStorage::Fp16 ? std::fabs(x) * 0x1p-11f
                                                             : largest / 127.0f * 0.501f;
          ASSERT_LE(std::fabs(got[i] - x), allowed) << h << " " << i;
        }
        for (const std::size_t other : {0u, 2u}) {  // the neighbours stay as they were
          load_kv(*table, plane.view, h, other, got);
          ASSERT_EQ(got, std::vector<float>(48, 0.0f));
        }
      }
    }
  }
}

TEST(KvAttention, EveryTableStoresTheSameBytes) {
  for (const KvStorage storage : kStorages) {
    Plane want(storage, 3, 2, 80);
    const std::vector<float> row = Numbers(4).normal(3 * 80, 3.0f);
    store_kv(scalar_kernels(), want.view, 1, row);
    for (const Kernels* table : available_kernels()) {
      Plane got(storage, 3, 2, 80);
      store_kv(*table, got.view, 1, row);
      EXPECT_EQ(got.bytes, want.bytes) << table->name << " " << name_of(storage);
      EXPECT_EQ(got.scales, want.scales) << table->name << " " << name_of(storage);
    }
  }
}

TEST(KvAttention, BitsDependOnTheSequenceNotOnTheSlots) {
  for (const KvStorage storage : kStorages) {
    for (const Shape& shape : kShapes) {
      const std::size_t count = 37, capacity = 90;
      for (const Kernels* table : available_kernels()) {
        SCOPED_TRACE(testing::Message()
                     << table->name << " " << name_of(storage) << " x " << shape.head_dim);
        Attended in_row(storage, shape, capacity), scattered(storage, shape, capacity);
        const std::vector<std::uint32_t> row = first_slots(count);
        std::vector<std::uint32_t> anywhere;
        for (std::size_t t = 0; t < count; ++t) {
          anywhere.push_back(static_cast<std::uint32_t>((t * 53 + 71) % capacity));
          in_row.put(*table, t, row[t]);
          scattered.put(*table, t, anywhere[t]);
        }
        const std::vector<float> want = in_row.run(*table, row);
        ASSERT_EQ(scattered.run(*table, anywhere), want);
        for (std::size_t cut = 0; cut <= shape.heads; ++cut) {  // two threads share the heads
          const std::vector<float> front = scattered.run(*table, anywhere, 0, cut);
          const std::vector<float> back = scattered.run(*table, anywhere, cut, shape.heads);
          for (std::size_t i = 0; i < want.size(); ++i) {
            const bool in_front = i < cut * shape.head_dim;
            ASSERT_EQ(in_front ? front[i] : back[i], want[i]) << cut << " " << i;
            ASSERT_EQ(in_front ? back[i] : front[i], 99.0f) << cut << " " << i;  // left alone
          }
        }
      }
    }
  }
}

TEST(KvAttention, LargeScoresAreStableAndTheLargestWins) {
  for (const Kernels* table : available_kernels()) {
    const Shape shape{2, 1, 32};
    Attended a(KvStorage::Fp32, shape, 5);
    for (std::size_t t = 0; t < 5; ++t) a.put(*table, t, t);
    const std::vector<float> query = Numbers(3).normal(64, 1.0f);
    std::vector<float> aligned(query.begin(), query.begin() + 32);
    for (float& x : aligned) x *= 1e6f;
    store_kv(*table, a.keys.view, 2, aligned);
    const std::vector<float> got = a.run(*table, first_slots(5));
    std::vector<float> value(32);
    load_kv(*table, a.values.view, 0, 2, value);
    for (std::size_t i = 0; i < 32; ++i) EXPECT_FLOAT_EQ(got[i], value[i]) << table->name;
  }
}

TEST(KvAttention, NonFiniteKeysAndValuesShowInTheOutput) {
  for (const Kernels* table : available_kernels()) {
    for (const KvStorage storage : kStorages) {
      for (const float bad :
           {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const bool in_keys : {false, true}) {
          if (in_keys && !std::isnan(bad)) continue;  // q . k may be -inf: a share of 0 is right
          SCOPED_TRACE(testing::Message() << table->name << " " << name_of(storage) << " " << bad);
          Attended a(storage, {4, 1, 64}, 9);
          for (std::size_t t = 0; t < 9; ++t) a.put(*table, t, t);
          std::vector<float> row = Numbers(1).normal(64, 1.0f);
          row[17] = bad;
          store_kv(*table, in_keys ? a.keys.view : a.values.view, 4, row);
          EXPECT_FALSE(all_finite(*table, a.run(*table, first_slots(9))));
        }
      }
    }
  }
}

// Whatever a cache holds, reads stay inside (run under ASan; the planes have no spare byte).
TEST(KvAttention, AnyBytesAreSafe) {
  for (const Kernels* table : available_kernels()) {
    for (const KvStorage storage : kStorages) {
      for (const Shape& shape : kShapes) {
        Attended a(storage, shape, 11);
        Numbers numbers(6);
        for (Plane* plane : {&a.keys, &a.values}) {
          for (std::byte& b : plane->bytes) b = static_cast<std::byte>(numbers.bits());
          for (float& s : plane->scales) {
            const auto bits = static_cast<std::uint32_t>(numbers.bits());
            std::memcpy(&s, &bits, sizeof s);
          }
        }
        EXPECT_EQ(a.run(*table, first_slots(11)).size(), shape.heads * shape.head_dim);
      }
    }
  }
}

}  // namespace
}  // namespace laya::simd
