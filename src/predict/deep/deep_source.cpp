#include "predict/deep/deep_source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "predict/deep/deep_context.h"
#include "predict/deep/deep_han.h"
#include "predict/deep/deep_index.h"
#include "predict/deep/deep_opening.h"
#include "predict/deep/deep_words.h"
#include "predict/instant/ngram_source.h"
#include "predict/source/word_query.h"
#include "text/script.h"

namespace laya::predict {
struct DeepSource::Impl {
  Impl(const DeepModel& m, const PieceIndex& pieces, const model::NgramModel* ngrams,
       model::Threads threads, const DeepOptions& o, model::PrefixCache* prefixes)
      : model(&m),
        options(o),
        openings(deep_openings(m.tokenizer(), o, m.tables().knows_han())),
        context(m.tokenizer(), openings, o.context_tokens, o.healed_tokens),
        tree(m.decoder(), m.tables(), threads, deep_capacity_tokens(o, openings), o.sharpness),
        words(m, pieces, ngrams, tree, options),
        han({&m.tokenizer(), &m.tables(), &tree}, pieces.han().size()) {
    if (prefixes != nullptr) {
      tree.share(prefixes);
    }
    if (ngrams != nullptr) {
      guide.emplace(*ngrams, pieces);
    }
    wishes.reserve(512);
  }

  /// Whether the decoder has anything to say about what follows.
  bool silent(const TypedText& text) const {
    if (text.ends_in_half_character()) {
      return true;
    }
    const std::string_view typed = text.open_word();
    if (base::count_code_points(typed) > kMaxPrefixLetters || text.in_address()) {
      return true;
    }
    if (!typed.empty() || m_knows_han()) {
      return false;
    }
    const std::string_view before = text.before();
    const base::Decoded last =
        base::decode_utf8(before.substr(base::previous_code_point(before, before.size())));
    return !before.empty() && (text::is_han(last.code_point) || text.needs_space());
  }
  bool m_knows_han() const { return model->tables().knows_han(); }

  void forget_text() {
    if (guide) {
      guide->clear();
    }
    context.clear();
    words.set_lead({});
    stale = true;
    read = false;
    ready = false;
    plan_version = 0;
  }

  void look_again() {
    words.set_lead(context.lead());
    han_stale = true;
  }

  /// What to look into next; empty when enough is known.
  std::span<const DeepTree::Growth> plan(const TypedText& text) {
    wishes.clear();
    const DeepPaths paths{&model->tokenizer(), &model->tables(), &tree};
    const float mass = std::max(paths.mass(DeepTree::kRootNode, context.lead()), 1e-9F);
    wish_for_rest(paths, DeepTree::kRootNode, context.lead(), 1 / mass, options.least_share,
                  &wishes);
    if (!wishes.empty()) {  // nothing is known of words before these are
      return growths_of_wishes();
    }
    if (text.open_word().empty() && text.needs_space()) {
      return {};
    }
    WordQuery query = word_query(text, &prefix);
    query.deep_share = options.deep_share;
    pool.clear();
    if (guide) {
      guide->propose(text, query, &pool);
    }
    words.propose(query, &pool);
    if (guide) {
      guide->score(text, query, &pool);
    }
    words.score(query, &pool);
    words.wish(query, &pool, &wishes);
    return growths_of_wishes();
  }

  std::span<const DeepTree::Growth> growths_of_wishes() {
    std::sort(wishes.begin(), wishes.end(), [](const DeepWish& a, const DeepWish& b) {
      return a.weight != b.weight ? a.weight > b.weight
                                  : (a.node != b.node ? a.node < b.node : a.token < b.token);
    });
    const std::size_t count =
        std::min({wishes.size(), options.columns, model::kMaxColumns, tree.free_nodes()});
    for (std::size_t i = 0; i < count; ++i) {
      growths[i] = {wishes[i].node, wishes[i].token};
    }
    return std::span(growths.data(), count);
  }

  const DeepModel* model;
  DeepOptions options;
  DeepOpenings openings;
  DeepContext context;
  DeepTree tree;
  DeepWords words;
  DeepHan han;
  std::optional<NgramSource> guide;
  WordPool pool;
  PrefixBytes prefix;
  std::vector<DeepWish> wishes;
  std::array<DeepTree::Growth, model::kMaxColumns> growths;
  bool stale = true;  // the text has changed since prepare()
  bool read = false;  // context holds the present text
  bool ready = false;
  bool han_stale = true;
  std::span<const DeepTree::Growth> planned;  // by needs_pass(), for the text and …
  std::uint64_t plan_version = 0;             // … this tree; 0: not
  DeepStatistics statistics;
};

DeepSource::DeepSource(const DeepModel& model, const PieceIndex& index,
                       const model::NgramModel* ngrams, model::Threads threads,
                       const DeepOptions& options, model::PrefixCache* prefixes)
    : impl_(std::make_unique<Impl>(model, index, ngrams, threads, options, prefixes)) {}
DeepSource::~DeepSource() = default;

void DeepSource::follow(const TypedText& text, const TypedText::Delta& delta) {
  if (impl_->guide) {
    impl_->guide->follow(text, delta);
  }
  impl_->stale = true;
  impl_->read = false;
  impl_->ready = false;
  impl_->plan_version = 0;
}

void DeepSource::clear() {
  impl_->forget_text();
  impl_->tree.clear(impl_->context.opening().size());  // no user's text
}

void DeepSource::hand_over(model::PrefixCache::Owner next) {
  impl_->forget_text();
  impl_->tree.hand_over(next, impl_->context.opening().size());
}

bool DeepSource::needs_pass(const TypedText& text) {
  Impl& impl = *impl_;
  if (!impl.stale || impl.silent(text)) {
    return false;
  }
  if (!impl.read) {
    impl.context.read(text);
    impl.read = true;
  }
  if (!impl.tree.is_at(impl.context.tokens())) {
    return true;
  }
  impl.look_again();
  impl.planned = impl.plan(text);
  impl.plan_version = impl.tree.version();
  return !impl.planned.empty();
}

Status DeepSource::prepare(const TypedText& text, const base::CancelFlag* cancel) {
  Impl& impl = *impl_;
  if (!impl.stale) {
    return {};
  }
  ++impl.statistics.keys;
  if (impl.silent(text)) {
    impl.stale = false;
    impl.ready = false;
    return {};
  }
  if (!impl.read) {
    impl.context.read(text);
    impl.read = true;
  }
  const std::uint64_t passes = impl.tree.passes();
  // A text whose front moved on does not come back.
  Status status =
      impl.tree.move_to(impl.context.tokens(), cancel,
                        impl.context.slid() ? DeepTree::Leave::Drop : DeepTree::Leave::Keep);
  for (std::size_t round = 0; status; ++round) {
    impl.look_again();
    if (round == impl.options.rounds) {
      break;
    }
    // needs_pass() has mostly been asked already.
    const bool known = round == 0 && impl.plan_version == impl.tree.version();
    const std::span<const DeepTree::Growth> growths = known ? impl.planned : impl.plan(text);
    impl.plan_version = 0;
    if (growths.empty()) {
      break;
    }
    status = impl.tree.grow(growths, cancel);
  }
  impl.statistics.keys_with_pass += impl.tree.passes() > passes ? 1 : 0;
  impl.statistics.passes = impl.tree.passes();
  impl.statistics.columns = impl.tree.columns();
  impl.statistics.heads = impl.tree.heads();
  if (!status) {
    impl.ready = false;
    return status;
  }
  impl.stale = false;
  impl.ready = true;
  return {};
}

bool DeepSource::ready() const { return impl_->ready; }

void DeepSource::propose(const TypedText&, const WordQuery& query, WordPool* pool) {
  if (impl_->ready) {
    impl_->words.propose(query, pool);
  }
}

void DeepSource::score(const TypedText&, const WordQuery& query, WordPool* pool) {
  if (impl_->ready) {
    impl_->words.score(query, pool);
  }
}

bool DeepSource::knows_han() const { return impl_->m_knows_han(); }

std::span<const float> DeepSource::han_probs() {
  Impl& impl = *impl_;
  if (!impl.ready || !knows_han()) {
    return {};
  }
  if (impl.han_stale) {
    impl.han.set_tail(impl.context.tail());
    impl.han_stale = false;
  }
  return impl.han.probs();
}

float DeepSource::log_han_after(std::string_view word, std::string_view character) {
  return han_probs().empty() ? kUnknownLog : impl_->han.log_after(word, character, kUnknownLog);
}

const DeepModel& DeepSource::model() const { return *impl_->model; }
model::KvCache& DeepSource::cache() { return impl_->tree.cache(); }
model::Workspace& DeepSource::workspace() { return impl_->tree.workspace(); }
std::size_t DeepSource::closed_bytes() const { return impl_->context.closed_bytes(); }
const DeepTree& DeepSource::tree() const { return impl_->tree; }
std::span<const float> DeepSource::root_probs() const {
  return impl_->tree.probs(DeepTree::kRootNode);
}
const DeepStatistics& DeepSource::statistics() const { return impl_->statistics; }

}  // namespace laya::predict
