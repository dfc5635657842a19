// One step of a GruLocal model of 8 M weights (two GRU layers of 512 with attention over 5 tokens,
// 16,384 tied rows of 256, all logits) on random weights, against the floor: the time to read
// exactly those bytes with the fastest plain loop. Floor, one thread and two threads take turns;
// every single pass is timed, so that the median and the first decile (the machine when nothing
// else runs) stay true while other work shares the cores. Answers are checked against the scalar
// kernels first; a wrong table prints no time.
//
// Usage: simd_bench [rounds, 40 by default; 20 passes each] [table, all by default]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include "simd/dispatch.h"
#include "simd/ops.h"
#include "simd/packing.h"
#include "simd/thread_pool.h"

namespace {

using namespace laya::simd;  // a program of its own, nothing includes it
using Clock = std::chrono::steady_clock;

constexpr std::size_t kVocabulary = 16384, kEmbedding = 256, kHidden = 512, kLayers = 2;
constexpr std::size_t kHeads = 4, kHeadDim = 32, kWindow = 5, kWidth = kHeads * kHeadDim;
constexpr std::size_t kGroup = 64;

struct Free {
  void operator()(std::byte* p) const {
    ::operator delete[](p, std::align_val_t{kPackedAlignment});
  }
};

// All matrices in one run of bytes, as in a file.
class Weights {
 public:
  explicit Weights(WeightType type) : type_(type) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes = {
        {kHidden, kEmbedding},  // in_proj
        {3 * kHidden, kHidden},   {3 * kHidden, kHidden},
        {3 * kWidth, kHidden},    {kHidden, kWidth},  // layer 0
        {3 * kHidden, kHidden},   {3 * kHidden, kHidden},
        {3 * kWidth, kHidden},    {kHidden, kWidth},  // layer 1
        {kEmbedding, kHidden},                        // out_proj
        {kVocabulary, kEmbedding}};                   // embedding
    for (const auto& [rows, cols] : shapes) size_ += packed_size_bytes(shape(rows, cols));
    memory_.reset(
        static_cast<std::byte*>(::operator new[](size_, std::align_val_t{kPackedAlignment})));
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0.0f, 0.04f);
    std::size_t at = 0;
    for (const auto& [rows, cols] : shapes) {
      std::vector<float> weights(rows * cols);
      for (float& w : weights) w = normal(random);
      const std::span<std::byte> bytes(memory_.get() + at, packed_size_bytes(shape(rows, cols)));
      if (!pack(shape(rows, cols), weights, bytes)) std::abort();
      matrices_.push_back(view_packed(shape(rows, cols), bytes).value());
      at += bytes.size();
    }
  }
  const PackedMatrix& in_proj() const { return matrices_[0]; }
  const PackedMatrix& w_ih(std::size_t l) const { return matrices_[1 + 4 * l]; }
  const PackedMatrix& w_hh(std::size_t l) const { return matrices_[2 + 4 * l]; }
  const PackedMatrix& w_qkv(std::size_t l) const { return matrices_[3 + 4 * l]; }
  const PackedMatrix& w_o(std::size_t l) const { return matrices_[4 + 4 * l]; }
  const PackedMatrix& out_proj() const { return matrices_[9]; }
  const PackedMatrix& embedding() const { return matrices_[10]; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  PackedShape shape(std::size_t rows, std::size_t cols) const {
    return {rows, cols, type_, kGroup, Minima::None};
  }
  WeightType type_;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<PackedMatrix> matrices_;
};

// The step, written as src/model writes it.
class Model {
 public:
  Model(const Weights& weights, const Kernels& kernels, ThreadPool& pool)
      : w_(weights), k_(kernels), pool_(pool), x_act_(kHidden, 1), logits_(kVocabulary) {
    for (std::size_t l = 0; l < kLayers; ++l) h_act_.emplace_back(kHidden, 1);
  }

  void reset() {
    for (auto& h : h_) h.assign(kHidden, 0.0f);
    for (auto& keys : keys_) keys.assign(kWindow * kWidth, 0.0f);
    for (auto& values : values_) values.assign(kWindow * kWidth, 0.0f);
    tokens_ = 0;
  }

  std::span<const float> step(std::size_t token) {
    dequantize_row(k_, w_.embedding(), token, row_);
    x_act_.set(k_, row_, kGroup);
    multiply({&w_.in_proj(), &x_act_, {}, x_});
    const std::size_t newest = tokens_ % kWindow;
    ++tokens_;
    for (std::size_t l = 0; l < kLayers; ++l) {
      rms_norm(k_, x_, ones_, 1e-5f, u_);
      x_act_.set(k_, u_, kGroup);
      h_act_[l].set(k_, h_[l], kGroup);
      const MatmulJob both[] = {{&w_.w_ih(l), &x_act_, bias_, gi_},
                                {&w_.w_hh(l), &h_act_[l], bias_, gh_}};
      matmul(k_, pool_, both);
      gru_gates(k_, gi_, gh_, h_[l], h_[l]);
      add(k_, h_[l], x_);
      rms_norm(k_, x_, ones_, 1e-5f, u_);
      x_act_.set(k_, u_, kGroup);
      multiply({&w_.w_qkv(l), &x_act_, {}, qkv_});
      std::copy_n(qkv_.begin() + kWidth, kWidth,
                  keys_[l].begin() + static_cast<std::ptrdiff_t>(newest * kWidth));
      std::copy_n(qkv_.begin() + 2 * kWidth, kWidth,
                  values_[l].begin() + static_cast<std::ptrdiff_t>(newest * kWidth));
      window_attention(k_,
                       {kHeads, kHeadDim, kWindow, newest, std::min(tokens_, kWindow), qkv_.data(),
                        keys_[l].data(), values_[l].data(), relative_.data(), mixed_.data()});
      x_act_.set(k_, mixed_, kGroup);
      multiply({&w_.w_o(l), &x_act_, {}, u_});
      add(k_, u_, x_);
    }
    rms_norm(k_, x_, ones_, 1e-5f, u_);
    x_act_.set(k_, u_, kGroup);
    multiply({&w_.out_proj(), &x_act_, {}, row_});
    x_act_.set(k_, row_, kGroup);
    multiply({&w_.embedding(), &x_act_, out_bias_, logits_});
    return logits_;
  }

 private:
  void multiply(const MatmulJob& job) { matmul(k_, pool_, {&job, 1}); }

  const Weights& w_;
  const Kernels& k_;
  ThreadPool& pool_;
  Activations x_act_;
  std::vector<Activations> h_act_;
  std::vector<float> h_[kLayers], keys_[kLayers], values_[kLayers];
  std::vector<float> row_ = std::vector<float>(kEmbedding), x_ = std::vector<float>(kHidden);
  std::vector<float> u_ = std::vector<float>(kHidden), ones_ = std::vector<float>(kHidden, 1.0f);
  std::vector<float> gi_ = std::vector<float>(3 * kHidden), gh_ = std::vector<float>(3 * kHidden);
  std::vector<float> bias_ = std::vector<float>(3 * kHidden, 0.01f),
                     qkv_ = std::vector<float>(3 * kWidth);
  std::vector<float> mixed_ = std::vector<float>(kWidth),
                     relative_ = std::vector<float>(kHeads * kWindow, 0.1f);
  std::vector<float> out_bias_ = std::vector<float>(kVocabulary, -1.0f), logits_;
  std::size_t tokens_ = 0;
};

bool same_answers(const Weights& weights, const Kernels& kernels, ThreadPool& pool) {
  ThreadPool alone(1);
  Model want(weights, scalar_kernels(), alone);
  Model got(weights, kernels, pool);
  want.reset();
  got.reset();
  for (std::size_t t = 0; t < 3; ++t) {
    const std::span<const float> a = want.step(t * 977);
    const std::span<const float> b = got.step(t * 977);
    // An activation that a few ulp tip to its neighbour code moves a logit by 1/127 of one term;
    // logits have deviation ~0.6.
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(std::fabs(a[i] - b[i]) < 0.02f)) return false;
    }
  }
  return true;
}

template <typename Function>
double time_us(std::size_t repeats, Function&& f) {
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < repeats; ++i) f(i);
  const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
  return took.count() / static_cast<double>(repeats);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct Series {
  std::vector<double> floor, one, two;
};

void report(const char* what, const char* table, const Series& s) {
  std::printf("%-4s %-12s", what, table);
  for (const double q : {0.5, 0.1}) {
    const double floor = quantile(s.floor, q);
    const double one = quantile(s.one, q);
    const double two = quantile(s.two, q);
    std::printf(" | p%.0f floor %6.1f  1T %7.1f us = %5.2f x  2T %7.1f us = %5.2f x", 100 * q,
                floor, one, one / floor, two, two / floor);
  }
  std::printf("\n");
}

// `repeats` calls of f, each timed.
template <typename Function>
void add_times(std::vector<double>& times, std::size_t repeats, Function&& f) {
  for (std::size_t i = 0; i < repeats; ++i) times.push_back(time_us(1, [&](std::size_t) { f(i); }));
}

void measure(const char* name, WeightType type, std::size_t rounds, std::string_view only,
             ThreadPool& one, ThreadPool& two) {
  const Weights weights(type);
  std::printf("%s: %.2f MB of weights\n", name, static_cast<double>(weights.bytes().size()) / 1e6);
  const Kernels& reader = best_kernels();
  std::uint64_t checksum = 0;
  for (const Kernels* table : available_kernels()) {
    if (!only.empty() && only != table->name) continue;
    if (!same_answers(weights, *table, two)) {
      std::printf("%-5s %-12s WRONG ANSWERS\n", name, table->name);
      continue;
    }
    const bool slow = table == &scalar_kernels();
    const std::size_t repeats = slow ? 1 : 20;
    Model alone(weights, *table, one);
    Model pair(weights, *table, two);
    alone.reset();
    pair.reset();
    Series s;
    for (std::size_t r = 0; r < (slow ? 3 : rounds); ++r) {
      add_times(s.floor, repeats,
                [&](std::size_t) { checksum ^= stream_read(reader, weights.bytes()); });
      add_times(s.one, repeats, [&](std::size_t i) { alone.step((r * 31 + i * 7) % kVocabulary); });
      two.wake();
      add_times(s.two, repeats, [&](std::size_t i) { pair.step((r * 31 + i * 7) % kVocabulary); });
    }
    report(name, table->name, s);
  }
  if (checksum == 42) std::printf("\n");  // keeps the reads
}

// Several vectors in one pass over the weights (a beam, a draft to verify), and scattered rows
// (candidates), against the floor.
void measure_columns(const char* name, WeightType type, std::size_t rounds) {
  const Kernels& k = best_kernels();
  const Weights weights(type);
  const PackedMatrix& m = weights.embedding();
  const std::span<const std::byte> bytes(m.data, m.blocks * m.block_bytes);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> x(kMaxColumns * kEmbedding), out(kMaxColumns * kVocabulary);
  for (float& v : x) v = normal(random);
  Activations a(kEmbedding, kMaxColumns);
  std::vector<std::uint32_t> rows(512);
  for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(random() % kVocabulary);
  std::sort(rows.begin(), rows.end());
  std::vector<double> floor, scattered, times[5];
  std::uint64_t checksum = 0;
  for (std::size_t r = 0; r < rounds; ++r) {
    add_times(floor, 5, [&](std::size_t) { checksum ^= stream_read(k, bytes); });
    for (std::size_t i = 0; i < 5; ++i) {
      a.set(k, x, kEmbedding, std::size_t{1} << i, kEmbedding, kGroup);
      add_times(times[i], 5, [&](std::size_t) { matmul(k, {&m, &a, {}, out, kVocabulary}); });
    }
    a.set(k, std::span(x).first(kEmbedding), kGroup);
    add_times(scattered, 5, [&](std::size_t) {
      matmul_rows(k, {&m, &a, {}, out, rows.size()}, rows);
    });
  }
  const double base = quantile(floor, 0.5);
  std::printf("%s 16384 x 256, %s: floor %.1f us; columns", name, k.name, base);
  for (std::size_t i = 0; i < 5; ++i)
    std::printf(" %d: %.2f x", 1 << i, quantile(times[i], 0.5) / base);
  std::printf("; 512 scattered rows: %.2f x\n", quantile(scattered, 0.5) / base);
  if (checksum == 42) std::printf("\n");  // keeps the reads
}

// What the step spends beside the big products: each in a loop, best kernels.
void measure_small(std::size_t rounds) {
  const Kernels& k = best_kernels();
  std::vector<float> x(kVocabulary), y(kVocabulary), ones(kHidden, 1.0f), g(3 * kHidden, 0.3f);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (float& v : x) v = normal(random);
  Activations a(kHidden, 1);
  std::vector<std::uint32_t> top(16);
  std::vector<float> best(16);
  const std::span<const float> h = std::span(x).first(kHidden);
  const std::span<float> out = std::span(y).first(kHidden);
  const auto show = [rounds](const char* name, auto f) {
    std::vector<double> times;
    for (std::size_t r = 0; r < rounds; ++r) times.push_back(time_us(50, f));
    std::printf("  %-28s %6.2f us\n", name, quantile(times, 0.5));
  };
  std::printf("small operations, %s\n", k.name);
  show("rms_norm 512", [&](std::size_t) { rms_norm(k, h, ones, 1e-5f, out); });
  show("quantise 512", [&](std::size_t) { a.set(k, h, kGroup); });
  show("gru_gates 512", [&](std::size_t) { gru_gates(k, g, g, h, out); });
  show("top_k 16 of 16384", [&](std::size_t) { top_k(k, x, top, best); });
  show("log_sum_exp 16384", [&](std::size_t) { y[0] = log_sum_exp(k, x); });
  show("softmax 16384", [&](std::size_t) { softmax(k, x, y); });
  const std::vector<float> ring(kWindow * kWidth, 0.1f);
  show("window_attention 4x32, 5", [&](std::size_t) {
    window_attention(k, {kHeads, kHeadDim, kWindow, 2, 5, x.data(), ring.data(), ring.data(),
                         g.data(), y.data()});
  });
}

}  // namespace

int main(int argc, char** argv) {
  const long asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 40;
  const std::size_t rounds = static_cast<std::size_t>(std::clamp(asked, 1L, 10000L));
  const std::string_view only = argc > 2 ? argv[2] : "";
  ThreadPool one(1);
  ThreadPool two(2);
  measure("int8", WeightType::Int8, rounds, only, one, two);
  measure("int4", WeightType::Int4, rounds, only, one, two);
  measure_columns("int8", WeightType::Int8, rounds);
  measure_columns("int4", WeightType::Int4, rounds);
  measure_small(rounds);
  return 0;
}
