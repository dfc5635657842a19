// dropout and embedding_lookup: operations that only move memory.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "train/mlx/fused_op.h"
#include "train/mlx/ops.h"
#include "train/mlx/parallel.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {
namespace {

mx::array dropout_pass(const mx::array& x, float rate, std::uint64_t seed) {
  const std::size_t size = x.size();
  return fused_op(
      "Dropout", {x}, {x.shape()}, {mx::float32},
      [=](const auto& in, const auto& out) {
        const auto threshold =
            static_cast<std::uint32_t>(std::lround(static_cast<double>(rate) * 4294967295.0));
        const float factor = 1.0F / (1.0F - rate);
        parallel_ranges(size, 16, [&](std::size_t begin, std::size_t end, std::size_t) {
          kernels().dropout(in_as<float>(in, 0) + begin, end - begin, begin, seed, threshold,
                            factor, out_as<float>(out, 0) + begin);
        });
      },
      [=](const auto&, const auto& cotangents, const auto&) {
        return std::vector<mx::array>{dropout_pass(cotangents[0], rate, seed)};
      })[0];
}

// Threads take ids of their own residue, so that no two write one row and every row's sum has one
// order.
mx::array scatter_rows(const mx::array& rows, const mx::array& ids, int vocabulary) {
  const std::size_t count = ids.size();
  const auto width = static_cast<std::size_t>(rows.shape(-1));
  const auto limit = static_cast<std::size_t>(vocabulary);
  return fused_op(
      "ScatterRows", {rows, ids}, {{vocabulary, rows.shape(-1)}}, {mx::float32},
      [=](const auto& in, const auto& out) {
        const auto* gradient = in_as<float>(in, 0);
        const auto* id = in_as<std::int32_t>(in, 1);
        auto* table = out_as<float>(out, 0);
        parallel_ranges(limit, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
          std::memset(table + begin * width, 0, (end - begin) * width * sizeof(float));
        });
        const std::size_t threads = parallel_threads();
        parallel_ranges(threads, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
          for (std::size_t i = 0; i < count; ++i) {
            if (id[i] < 0 || static_cast<std::size_t>(id[i]) >= limit) continue;
            const auto row = static_cast<std::size_t>(id[i]);
            if (row % threads < begin || row % threads >= end) continue;
            kernels().add(table + row * width, gradient + i * width, width, table + row * width);
          }
        });
      },
      nullptr)[0];
}

}  // namespace

mx::array dropout(const mx::array& x, float rate, std::uint64_t seed) {
  require(x.dtype() == mx::float32 && rate >= 0.0F && rate < 1.0F, "dropout",
          "float32 and a rate in [0, 1) needed");
  return rate == 0.0F ? x : dropout_pass(x, rate, seed);
}

mx::array embedding_lookup(const mx::array& embedding, const mx::array& ids) {
  require(embedding.ndim() == 2 && embedding.dtype() == mx::float32 && ids.dtype() == mx::int32,
          "embedding_lookup", "embedding float32 [V,e] and int32 ids needed");
  const std::size_t count = ids.size();
  const auto vocabulary = static_cast<std::size_t>(embedding.shape(0));
  const auto width = static_cast<std::size_t>(embedding.shape(1));
  auto shape = ids.shape();
  shape.push_back(embedding.shape(1));
  return fused_op(
      "EmbeddingLookup", {embedding, ids}, {shape}, {mx::float32},
      [=](const auto& in, const auto& out) {
        parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
          for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t id = in_as<std::int32_t>(in, 1)[i];
            float* row = out_as<float>(out, 0) + i * width;
            if (id < 0 || static_cast<std::size_t>(id) >= vocabulary) {
              std::fill_n(row, width, 0.0F);
            } else {
              std::memcpy(row, in_as<float>(in, 0) + static_cast<std::size_t>(id) * width,
                          width * sizeof(float));
            }
          }
        });
      },
      [](const auto& inputs, const auto& cotangents, const auto&) {
        return std::vector<mx::array>{scatter_rows(cotangents[0], inputs[1], inputs[0].shape(0)),
                                      inputs[1]};
      })[0];
}

}  // namespace laya::train
