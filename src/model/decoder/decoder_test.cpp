// The decoder's promises, on random models of each family: backends agree, columns are independent,
// a tree is what its path would be.
#include "model/decoder/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <tuple>

#include "base/allocation_counter.h"
#include "base/clock.h"
#include "model/backends/cpu.h"
#include "model/backends/reference.h"
#include "model/decoder/test_decoders.h"
#include "model/gru/language_model.h"

namespace laya::model {
namespace {

struct Case {
  std::string name;
  DecoderFamily family;
  Precision precision;
  KvType kv;
  Backend backend;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const DecoderFamily family : kDecoderFamilies) {
    const std::string name(family_name(family));
    all.push_back({name + "_reference", family, kFloat, KvType::F32, reference_backend()});
    all.push_back({name + "_cpu_fp32_kv32", family, kFloat, KvType::F32, cpu_backend()});
    all.push_back({name + "_cpu_int4_kv16", family, kInt4WithMinima, KvType::F16, cpu_backend()});
    all.push_back({name + "_cpu_int8_kv8", family, Precision{}, KvType::Int8, cpu_backend()});
  }
  return all;
}

class Decoders : public testing::TestWithParam<Case> {
 protected:
  static KvOptions options(std::uint32_t capacity = 64) {
    return {capacity, 64, GetParam().kv, 16};
  }
  const DecoderConfig& config() const { return decoder_->config(); }
  KvCache cache(std::uint32_t capacity = 64) const { return KvCache(config(), options(capacity)); }
  std::vector<float> prefill(KvCache& into, std::span<const TokenId> tokens) const {
    std::vector<float> hidden(config().hidden_dim);
    const Status status = decoder_->prefill(*workspace_, into, tokens, hidden);
    EXPECT_TRUE(status) << status.error().message;
    return hidden;
  }
  std::vector<float> grow(KvCache& into, std::span<const Column> columns) const {
    std::vector<float> hidden(columns.size() * config().hidden_dim);
    const Status status = decoder_->grow(*workspace_, into, columns, hidden);
    EXPECT_TRUE(status) << status.error().message;
    return hidden;
  }
  std::vector<TokenId> tokens(std::size_t n, std::uint32_t seed = 1) const {
    return some_tokens(n, config().vocabulary_size, seed);
  }

  RandomDecoder model_{GetParam().family, GetParam().precision};
  std::unique_ptr<Decoder> decoder_ = model_.load(GetParam().backend);
  std::unique_ptr<Workspace> workspace_ = decoder_->make_workspace();
};

INSTANTIATE_TEST_SUITE_P(All, Decoders, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// Root mean square of the difference, relative to that of b.
double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0, size = 1e-18;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - b[i], 2);
    size += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / size);
}

TEST_P(Decoders, AgreesWithTheReference) {
  // Quantised products round activations to 8 bits, the reference does not: 3.6 % at worst in these
  // narrow models.
  const double tolerance = GetParam().precision.type == simd::WeightType::Fp32 ? 1e-5 : 5e-2;
  const auto reference = model_.load(reference_backend());
  const auto reference_ws = reference->make_workspace();
  KvCache ours = cache(), theirs = cache();
  const auto text = tokens(40);
  const auto a = all_hidden(*decoder_, *workspace_, ours, text);
  const auto b = all_hidden(*reference, *reference_ws, theirs, text);
  std::vector<float> x(config().vocabulary_size), y(x.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    SCOPED_TRACE("token " + std::to_string(i));
    ASSERT_LT(distance(a[i], b[i]), tolerance);
    ASSERT_TRUE(decoder_->logits(*workspace_, a[i], 1, x));
    ASSERT_TRUE(reference->logits(*reference_ws, a[i], 1, y));
    ASSERT_LT(distance(x, y), tolerance);
    float sum = 0, wanted = log_sum_exp(y);
    ASSERT_TRUE(decoder_->log_normalizers(*workspace_, a[i], 1, {&sum, 1}));
    ASSERT_NEAR(sum, log_sum_exp(x), 1e-4);
    ASSERT_NEAR(sum, wanted, 10 * tolerance);
  }
}

TEST_P(Decoders, LongContextsAgreeWithTheReference) {
  // Enough work that threads share attention, more tokens than the ring remembers.
  const double tolerance = GetParam().precision.type == simd::WeightType::Fp32 ? 1e-5 : 5e-2;
  const auto reference = model_.load(reference_backend());
  const auto reference_ws = reference->make_workspace();
  const auto text = tokens(300);
  std::vector<float> wanted(config().hidden_dim), got(wanted.size());
  KvCache theirs = cache(256);
  ASSERT_TRUE(reference->prefill(*reference_ws, theirs, text, wanted));
  for (const Threads threads : {Threads::One, Threads::Two}) {
    const auto workspace = decoder_->make_workspace(threads);
    KvCache ours = cache(256);
    ASSERT_TRUE(decoder_->prefill(*workspace, ours, text, got));
    EXPECT_LT(distance(got, wanted), tolerance);
    ASSERT_TRUE(decoder_->prefill(*workspace, ours, {{7}}, got));  // one column alone
    KvCache again = cache(256);
    ASSERT_TRUE(again.copy_prefix(theirs, 300));
    std::vector<float> next(wanted.size());
    ASSERT_TRUE(reference->prefill(*reference_ws, again, {{7}}, next));
    EXPECT_LT(distance(got, next), tolerance);
  }
}

TEST_P(Decoders, ColumnsAreTheSameBitsAsSingleCalls) {
  for (const std::size_t n : {2U, 5U, 16U, 37U}) {
    SCOPED_TRACE(n);
    const auto text = tokens(n);
    KvCache one = cache(), many = cache();
    const auto singles = all_hidden(*decoder_, *workspace_, one, text);
    EXPECT_EQ(prefill(many, text), singles.back());
    EXPECT_EQ(many.length(), n);
    // And what they left behind is the same as well.
    EXPECT_EQ(prefill(one, {{7}}), prefill(many, {{7}}));
  }
  const std::size_t n = kMaxColumns, v = config().vocabulary_size, d = config().hidden_dim;
  KvCache kv = cache();
  std::vector<float> hidden, scores(n * v), single(v), sums(n);
  for (const auto& each : all_hidden(*decoder_, *workspace_, kv, tokens(n))) {
    hidden.insert(hidden.end(), each.begin(), each.end());
  }
  const std::vector<TokenId> rows = {90, 3, 3, 17, 0};
  std::vector<float> chosen(n * rows.size());
  ASSERT_TRUE(decoder_->logits(*workspace_, hidden, n, scores));
  ASSERT_TRUE(decoder_->logits_rows(*workspace_, hidden, n, rows, chosen));
  ASSERT_TRUE(decoder_->log_normalizers(*workspace_, hidden, n, sums));
  for (std::size_t c = 0; c < n; ++c) {
    const std::span<const float> column = std::span(hidden).subspan(c * d, d);
    float sum = 0;
    ASSERT_TRUE(decoder_->logits(*workspace_, column, 1, single));
    ASSERT_TRUE(decoder_->log_normalizers(*workspace_, column, 1, {&sum, 1}));
    EXPECT_TRUE(std::ranges::equal(single, std::span(scores).subspan(c * v, v)));
    EXPECT_EQ(sum, sums[c]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(chosen[c * rows.size() + i], single[rows[i]]);
    }
  }
}

TEST_P(Decoders, ATreePathIsTheSameBitsAsTheMainSequence) {
  const auto text = tokens(20);
  KvCache straight = cache(), branched = cache();
  const auto wanted = all_hidden(*decoder_, *workspace_, straight, text);
  prefill(branched, std::span(text).first(12));
  // The path 12, 13, … 19 among others, in two calls.
  const std::vector<Column> first = {{kRoot, 5}, {kRoot, text[12]}, {0, text[13]}, {1, text[13]},
                                     {1, 9},     {3, text[14]},     {5, text[15]}};
  const std::vector<Column> second = {{6, text[16]}, {7, text[17]}, {4, 2}, {8, text[18]}};
  const std::size_t d = config().hidden_dim;
  const auto part = [d](const std::vector<float>& all, std::size_t c) {
    return std::vector<float>(all.begin() + c * d, all.begin() + (c + 1) * d);
  };
  const auto a = grow(branched, first), b = grow(branched, second);
  EXPECT_EQ(part(a, 1), wanted[12]);
  EXPECT_EQ(part(a, 3), wanted[13]);
  EXPECT_EQ(part(a, 5), wanted[14]);
  EXPECT_EQ(part(a, 6), wanted[15]);
  EXPECT_EQ(part(b, 0), wanted[16]);
  EXPECT_EQ(part(b, 1), wanted[17]);
  EXPECT_EQ(part(b, 3), wanted[18]);
  EXPECT_NE(part(a, 2), wanted[13]);
  EXPECT_EQ(branched.depth(10), 7U);

  branched.commit(10);
  EXPECT_EQ(branched.length(), 19U);
  EXPECT_EQ(branched.node_count(), 0U);
  EXPECT_EQ(prefill(branched, {{text[19]}}), wanted[19]);
}

TEST_P(Decoders, DroppedNodesLeaveNoTrace) {
  const auto text = tokens(10);
  KvCache kv = cache();
  prefill(kv, text);
  const std::vector<Column> kept = {{kRoot, 1}, {0, 2}}, dropped = {{1, 3}, {kRoot, 4}};
  grow(kv, kept);
  const auto wanted = grow(kv, {{{1, 60}, {0, 61}}});
  kv.drop_nodes_from(2);
  grow(kv, dropped);
  kv.drop_nodes_from(2);
  EXPECT_EQ(kv.node_count(), 2U);
  EXPECT_EQ(grow(kv, {{{1, 60}, {0, 61}}}), wanted);
}

TEST_P(Decoders, TruncatingAndForkingEqualAFreshRun) {
  const auto text = tokens(30);
  KvCache kv = cache(), fresh = cache();
  prefill(kv, text);
  EXPECT_EQ(kv.truncate(13), 13U);
  const std::vector<TokenId> other = {1, 2, 3};
  const auto got = prefill(kv, other);
  prefill(fresh, std::span(text).first(13));
  EXPECT_EQ(got, prefill(fresh, other));

  KvCache fork(config(), {128, 8, GetParam().kv, 0});  // of another capacity
  ASSERT_TRUE(fork.copy_prefix(kv, 9));
  EXPECT_EQ(fork.length(), 9U);
  EXPECT_EQ(fresh.truncate(9), 9U);
  EXPECT_EQ(prefill(fork, other), prefill(fresh, other));
  EXPECT_EQ(kv.length(), 16U);
}

TEST_P(Decoders, ARingForgetsAndCanBeTakenBack) {
  // Twelve tokens are remembered, so each result depends on layers * 11 tokens before it: the same
  // tokens a long way in, run whole, in chunks and with detours, give the same bits.
  const auto text = tokens(150);
  KvCache straight = cache(12), detours = cache(12);
  const auto wanted = all_hidden(*decoder_, *workspace_, straight, text);
  prefill(detours, std::span(text).first(100));
  EXPECT_EQ(detours.truncate(90), 90U);  // undo_tokens is 16
  prefill(detours, tokens(9, 5));
  EXPECT_EQ(detours.truncate(90), 90U);
  EXPECT_EQ(prefill(detours, std::span(text).subspan(90, 37)), wanted[126]);
  grow(detours, {{{kRoot, text[127]}, {0, text[128]}, {0, 4}}});
  detours.commit(1);
  KvCache fork = cache(12);
  ASSERT_TRUE(fork.copy_prefix(detours, 129));
  EXPECT_EQ(prefill(fork, std::span(text).subspan(129)), wanted[149]);
  EXPECT_EQ(prefill(detours, std::span(text).subspan(129, 1)), wanted[129]);

  KvCache small(config(), {13, 8, GetParam().kv, 0});
  EXPECT_FALSE(small.copy_prefix(detours, 100));  // other capacity, forgotten tokens
  EXPECT_EQ(detours.truncate(20), 0U);            // long overwritten
  EXPECT_EQ(detours.truncatable_to(), 1U);
}

TEST_P(Decoders, CancellingLeavesTheCacheAsItWas) {
  const auto text = tokens(30);
  KvCache kv = cache(12), fresh = cache(12);
  prefill(kv, text);
  prefill(fresh, text);
  base::CancelFlag flag;
  flag.cancel();
  const Status prefilled = decoder_->prefill(*workspace_, kv, tokens(16), {}, &flag);
  ASSERT_FALSE(prefilled);
  EXPECT_EQ(prefilled.error().code, ErrorCode::Cancelled);
  const std::vector<Column> columns = {{kRoot, 1}, {0, 2}};
  const Status grown = decoder_->grow(*workspace_, kv, columns, {}, &flag);
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(kv.length(), 30U);
  EXPECT_EQ(kv.node_count(), 0U);
  flag.reset();
  EXPECT_EQ(grow(kv, columns), grow(fresh, columns));
}

TEST_P(Decoders, CancellingAtAnyMomentLeavesTheCacheAsItWas) {
  const auto two = decoder_->make_workspace(Threads::Two);
  const auto text = tokens(20);
  KvCache kv = cache(12), fresh = cache(12);
  prefill(kv, text);
  prefill(fresh, text);
  const std::vector<Column> columns = {{kRoot, 1}, {0, 2}, {0, 3}, {1, 4}, {kRoot, 5}};
  const auto wanted = grow(fresh, columns);
  int cancelled = 0;
  for (int round = 0; round < 40; ++round) {
    base::CancelFlag flag;
    std::thread other([&flag, round] {
      const std::int64_t start = base::monotonic_ns();
      while (base::monotonic_ns() - start < round * 2000) {
      }
      flag.cancel();
    });
    Workspace& workspace = round % 2 == 0 ? *workspace_ : *two;
    const Status status = round % 3 == 0 ? decoder_->prefill(workspace, kv, tokens(16), {}, &flag)
                                         : decoder_->grow(workspace, kv, columns, {}, &flag);
    other.join();
    if (status) {
      EXPECT_EQ(kv.truncate(20), 20U);
    } else {
      EXPECT_EQ(status.error().code, ErrorCode::Cancelled);
      ++cancelled;
    }
    EXPECT_EQ(kv.length(), 20U);
    EXPECT_EQ(kv.node_count(), 0U);
    EXPECT_EQ(grow(kv, columns), wanted);
    kv.clear_tree();
  }
  RecordProperty("cancelled", cancelled);
}

TEST_P(Decoders, TwoThreadsGiveTheSameBits) {
  const auto two = decoder_->make_workspace(Threads::Two);
  const auto text = tokens(37);
  KvCache a = cache(), b = cache();
  std::vector<float> hidden(config().hidden_dim), x(config().vocabulary_size), y(x.size());
  const auto wanted = prefill(a, text);
  ASSERT_TRUE(decoder_->prefill(*two, b, text, hidden));
  EXPECT_EQ(hidden, wanted);
  ASSERT_TRUE(decoder_->logits(*workspace_, wanted, 1, x));
  ASSERT_TRUE(decoder_->logits(*two, wanted, 1, y));
  EXPECT_EQ(x, y);
  float sum_x = 0, sum_y = 0;
  ASSERT_TRUE(decoder_->log_normalizers(*workspace_, wanted, 1, {&sum_x, 1}));
  ASSERT_TRUE(decoder_->log_normalizers(*two, wanted, 1, {&sum_y, 1}));
  EXPECT_EQ(sum_x, sum_y);
  const auto rows = tokens(1300, 9);  // more than one unit of work
  std::vector<float> chosen(2 * rows.size());
  std::vector<float> twice = wanted;
  twice.insert(twice.end(), wanted.begin(), wanted.end());
  ASSERT_TRUE(decoder_->logits_rows(*two, twice, 2, rows, chosen));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    ASSERT_EQ(chosen[i], x[rows[i % rows.size()]]);
  }
  for (const std::size_t n : {1U, 3U, 4U, 9U, 16U}) {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < n; ++i) {
      columns.push_back({static_cast<KvNodeId>(i / 2) - 1, static_cast<TokenId>(i + 1)});
    }
    std::vector<float> trees(n * config().hidden_dim);
    ASSERT_TRUE(decoder_->grow(*two, b, columns, trees));
    EXPECT_EQ(trees, grow(a, columns));
    a.clear_tree();
    b.clear_tree();
  }
}

TEST_P(Decoders, AllocatesNothingAfterWarmUp) {
  KvCache kv = cache();
  const auto text = tokens(18);
  const std::vector<Column> columns(kMaxColumns, Column{kRoot, 3});
  const std::vector<TokenId> rows = {1, 2, 3};
  const std::size_t n = kMaxColumns;
  std::vector<float> hidden(n * config().hidden_dim), scores(n * config().vocabulary_size),
      chosen(n * rows.size()), sums(n);
  std::uint64_t counted = 0;
  for (int round = 0; round < 2; ++round) {
    const base::AllocationScope scope;
    kv.truncate(0);
    ASSERT_TRUE(
        decoder_->prefill(*workspace_, kv, text, std::span(hidden).first(config().hidden_dim)));
    ASSERT_TRUE(decoder_->grow(*workspace_, kv, columns, hidden));
    ASSERT_TRUE(decoder_->logits(*workspace_, hidden, n, scores));
    ASSERT_TRUE(decoder_->logits_rows(*workspace_, hidden, n, rows, chosen));
    ASSERT_TRUE(decoder_->log_normalizers(*workspace_, hidden, n, sums));
    kv.commit(3);
    counted = scope.count();
  }
  EXPECT_EQ(counted, 0U);
}

TEST_P(Decoders, RefusesWhatDoesNotFit) {
  KvCache kv = cache();
  const std::size_t d = config().hidden_dim, v = config().vocabulary_size;
  std::vector<float> hidden(d), wrong(d + 1), scores(v);
  const auto code = [](const Status& status) {
    return status ? ErrorCode::Internal : status.error().code;
  };
  const auto bad = ErrorCode::BadArgument;
  EXPECT_EQ(code(decoder_->prefill(*workspace_, kv, {}, hidden)), bad);
  EXPECT_EQ(code(decoder_->prefill(*workspace_, kv, {{91}}, hidden)), bad);
  EXPECT_EQ(code(decoder_->prefill(*workspace_, kv, {{1}}, wrong)), bad);
  EXPECT_EQ(code(decoder_->prefill(*workspace_, kv, tokens(4097), hidden)), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, {}, {})), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, std::vector<Column>(17, {kRoot, 1}), {})), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, {{{0, 1}}}, {})), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, {{{kRoot, 1}, {1, 1}}}, {})), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, {{{-2, 1}}}, {})), bad);
  EXPECT_EQ(code(decoder_->grow(*workspace_, kv, {{{kRoot, 91}}}, {})), bad);
  EXPECT_EQ(code(decoder_->logits(*workspace_, hidden, 1, wrong)), bad);
  EXPECT_EQ(code(decoder_->logits(*workspace_, hidden, 17, scores)), bad);
  EXPECT_EQ(code(decoder_->logits_rows(*workspace_, hidden, 1, {{91}}, std::span(scores).first(1))),
            bad);
  EXPECT_EQ(kv.length(), 0U);
  EXPECT_EQ(kv.node_count(), 0U);

  grow(kv, {{{kRoot, 1}}});
  EXPECT_EQ(code(decoder_->prefill(*workspace_, kv, {{1}}, {})), bad);  // a tree is in the way
  kv.clear_tree();
  KvCache narrow(config(), {8, 2, GetParam().kv, 0});
  EXPECT_EQ(code(decoder_->grow(*workspace_, narrow, std::vector<Column>(3, {kRoot, 1}), {})), bad);
  DecoderConfig other = config();
  other.layers = 2;
  other.sliding_layers.clear();
  KvCache foreign(other);
  EXPECT_EQ(code(decoder_->prefill(*workspace_, foreign, {{1}}, {})), bad);
  EXPECT_FALSE(foreign.copy_prefix(kv, 0));

  std::vector<float> damaged(d, 1.0F);
  damaged[3] = std::nanf("");
  EXPECT_EQ(code(decoder_->logits(*workspace_, damaged, 1, scores)), ErrorCode::Corrupt);
}

}  // namespace
}  // namespace laya::model
