#include "predict/deep/deep_tree.h"

#include <algorithm>
#include <string>

#include "predict/source/likeliest.h"
#include "predict/source/softmax.h"

namespace laya::predict {
namespace {

// Tokens that take two passes to read: copying them costs a tenth.
constexpr std::size_t kWorthKeeping = 2 * model::kMaxColumns;
// Successors inside a word below this probability spell no word worth offering.
constexpr float kLeastGoingOn = 1e-4F;

}  // namespace

DeepTree::DeepTree(const model::Decoder& decoder, const DeepIndex& index, model::Threads threads,
                   std::size_t context_tokens, float sharpness)
    : decoder_(&decoder),
      index_(&index),
      sharpness_(sharpness),
      workspace_(decoder.make_workspace(threads)),
      cache_(decoder.config(),
             {.capacity_tokens = static_cast<std::uint32_t>(context_tokens), .tree_nodes = 128}),
      width_(decoder.config().vocabulary_size),
      dim_(decoder.config().hidden_dim),
      root_hidden_(dim_),
      root_probs_(width_),
      hidden_(kMaxNodes * dim_),
      probs_(kMaxNodes * width_),
      known_hidden_(kRemembered * dim_) {
  fed_.reserve(2 * cache_.options().capacity_tokens);
  nodes_.reserve(kMaxNodes);
  known_.reserve(kRemembered);
}

DeepTree::~DeepTree() {
  if (prefixes_ != nullptr) {
    prefixes_->forget(owner_);
  }
}

void DeepTree::share(model::PrefixCache* prefixes) {
  prefixes_ = prefixes;
  owner_ = prefixes->new_owner();
}

void DeepTree::hand_over(model::PrefixCache::Owner next, std::size_t tokens) {
  if (ready_) {
    keep(fed_.size());
  }
  cut(tokens);
  owner_ = next;
}

void DeepTree::clear(std::size_t tokens) {
  if (prefixes_ != nullptr) {
    prefixes_->forget(owner_);
  }
  cut(tokens);
}

// Forgets all but the first `tokens` of the root.
void DeepTree::cut(std::size_t tokens) {
  const std::size_t kept = cache_.truncate(std::min(tokens, cache_.length()));
  ++version_;
  std::fill(fed_.begin() + static_cast<std::ptrdiff_t>(kept), fed_.end(), TokenId{0});
  fed_.resize(kept);
  nodes_.clear();
  while (!known_.empty() && known_.back().length > kept) {
    known_.pop_back();
  }
  if (kept == 0) {
    known_.clear();
  }
  root_hidden_known_ = false;
  ready_ = false;
}

int DeepTree::find(int parent, TokenId token) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == parent && nodes_[i].token == token) {
      return static_cast<int>(i);
    }
  }
  return kNone;
}

bool DeepTree::is_at(std::span<const TokenId> wanted) const {
  return ready_ && std::equal(fed_.begin(), fed_.end(), wanted.begin(), wanted.end());
}

// Keeps the root's hidden state: taking back a key mostly returns to it.
void DeepTree::remember() {
  if (!root_hidden_known_) {
    return;
  }
  const std::size_t length = fed_.size();
  for (const Known& entry : known_) {
    if (entry.length == length) {
      return;
    }
  }
  std::size_t slot = known_.size();
  if (known_.size() == kRemembered) {
    slot = known_.front().slot;
    known_.erase(known_.begin());
  }
  known_.push_back({length, slot});
  std::copy(root_hidden_.begin(), root_hidden_.end(),
            known_hidden_.begin() + static_cast<std::ptrdiff_t>(slot * dim_));
}

// The path to `node` becomes part of the main sequence.
void DeepTree::commit(int node) {
  std::array<TokenId, kMaxNodes> path;
  std::size_t depth = 0;
  for (int at = node; at != kRootNode; at = nodes_[static_cast<std::size_t>(at)].parent) {
    path[depth++] = nodes_[static_cast<std::size_t>(at)].token;
  }
  remember();
  const auto index = static_cast<std::size_t>(node);
  cache_.commit(nodes_[index].cache_node);
  while (depth > 0) {
    fed_.push_back(path[--depth]);
  }
  std::copy_n(hidden_.begin() + static_cast<std::ptrdiff_t>(index * dim_), dim_,
              root_hidden_.begin());
  std::copy_n(probs_.begin() + static_cast<std::ptrdiff_t>(index * width_), width_,
              root_probs_.begin());
  root_hidden_known_ = true;
  ready_ = true;
  nodes_.clear();
}

// The tree is shared with the ghost's search; nodes that it dropped with its own are gone.
void DeepTree::drop_lost_nodes() {
  const auto count = static_cast<model::KvNodeId>(cache_.node_count());
  while (!nodes_.empty() && nodes_.back().cache_node >= count) {
    nodes_.pop_back();
    ++version_;
  }
}

// Leaves the main sequence to other sessions, and to this one when it comes back; `read`: what
// reading its end anew would take.
void DeepTree::keep(std::size_t read) {
  if (prefixes_ != nullptr && read >= kWorthKeeping) {
    prefixes_->store(fed_, cache_, owner_);
  }
}

// Copies what is known of `wanted`, if that saves a pass.
void DeepTree::look_up(std::span<const TokenId> wanted) {
  if (prefixes_ == nullptr || wanted.size() <= fed_.size() + model::kMaxColumns) {
    return;
  }
  const std::size_t known =
      prefixes_->restore_more(wanted, cache_, fed_.size() + model::kMaxColumns);
  if (known == 0) {
    return;
  }
  fed_.assign(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(known));
  nodes_.clear();
  known_.clear();
  root_hidden_known_ = ready_ = false;
}

Status DeepTree::feed(std::span<const TokenId> wanted, const base::CancelFlag* cancel,
                      Leave leave) {
  std::size_t common = static_cast<std::size_t>(
      std::mismatch(fed_.begin(), fed_.end(), wanted.begin(), wanted.end()).first - fed_.begin());
  if (common < fed_.size()) {
    if (leave == Leave::Keep) {
      keep(fed_.size() - common);
    }
    remember();
    const std::size_t length = cache_.truncate(common);
    if (length < common) {
      known_.clear();
    }
    fed_.resize(length);
    nodes_.clear();
    while (!known_.empty() && known_.back().length > length) {
      known_.pop_back();
    }
    root_hidden_known_ = false;
    ready_ = false;
    for (const Known& entry : known_) {
      if (entry.length == length) {
        std::copy_n(known_hidden_.begin() + static_cast<std::ptrdiff_t>(entry.slot * dim_), dim_,
                    root_hidden_.begin());
        root_hidden_known_ = true;
      }
    }
  } else if (ready_) {
    drop_lost_nodes();
    int node = kRootNode;
    for (std::size_t i = fed_.size(); i < wanted.size(); ++i) {
      const int child = find(node, wanted[i]);
      if (child == kNone) {
        break;
      }
      node = child;
    }
    if (node != kRootNode) {
      commit(node);
    }
  }
  // Words of a ghost that were read already, though nobody kept what follows them.
  if (fed_.size() + 1 < wanted.size() && cache_.node_count() > 0) {
    model::KvNodeId node = model::kRoot;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < cache_.node_count() && fed_.size() + depth + 1 < wanted.size();
         ++i) {  // parents come before their children
      const auto id = static_cast<model::KvNodeId>(i);
      if (cache_.parent(id) == node && cache_.token(id) == wanted[fed_.size() + depth]) {
        node = id;
        ++depth;
      }
    }
    if (depth > 0) {
      remember();
      cache_.commit(node);
      fed_.insert(fed_.end(), wanted.begin() + static_cast<std::ptrdiff_t>(fed_.size()),
                  wanted.begin() + static_cast<std::ptrdiff_t>(fed_.size() + depth));
      nodes_.clear();
      root_hidden_known_ = ready_ = false;
    }
  }
  look_up(wanted);
  if (fed_.size() == wanted.size() && !root_hidden_known_) {
    // The hidden state of the last token is gone: it is read once more.
    const std::size_t length = cache_.truncate(fed_.size() - 1);
    fed_.resize(length);
    nodes_.clear();
    known_.clear();
    ready_ = false;
  }
  if (fed_.size() < wanted.size()) {
    remember();
    cache_.clear_tree();
    nodes_.clear();
    root_hidden_known_ = false;
    ready_ = false;
  }
  const std::size_t known = fed_.size();
  while (fed_.size() < wanted.size()) {
    const std::size_t count = std::min(wanted.size() - fed_.size(), model::kMaxColumns);
    const std::span<const TokenId> chunk = wanted.subspan(fed_.size(), count);
    const bool last = fed_.size() + count == wanted.size();
    if (Status status =
            decoder_->prefill(*workspace_, cache_, chunk,
                              last ? std::span<float>(root_hidden_) : std::span<float>(), cancel);
        !status) {
      fed_.resize(std::min(fed_.size(), cache_.length()));
      return status;
    }
    ++passes_;
    columns_ += count;
    fed_.insert(fed_.end(), chunk.begin(), chunk.end());
    root_hidden_known_ = last;
  }
  if (leave == Leave::Keep) {
    keep(fed_.size() - known);
  }
  return {};
}

Status DeepTree::compute_root() {
  Status status = decoder_->logits(*workspace_, root_hidden_, 1, root_probs_);
  if (status) {
    ++heads_;
    softmax_in_place(root_probs_, sharpness_);
  }
  ready_ = status.has_value();
  return status;
}

Status DeepTree::move_to(std::span<const TokenId> wanted, const base::CancelFlag* cancel,
                         Leave leave) {
  if (is_at(wanted)) {
    drop_lost_nodes();
    return {};
  }
  ++version_;
  Status status = feed(wanted, cancel, leave);
  if (!status) {
    ready_ = false;
    if (status.error().code != ErrorCode::Cancelled) {
      clear();
    }
    return status;
  }
  return ready_ ? Status{} : compute_root();
}

void DeepTree::look_at(Node* node, std::span<const float> probs) const {
  // The likeliest successors that go on inside a word, and the mass of all of them.
  const std::span<const DeepGoingOn> going_on = index_->going_on();
  float mass = 0;
  Likeliest<kBest> likeliest;
  for (std::size_t i = 0; i < going_on.size(); ++i) {
    const float p = probs[going_on[i].token];
    mass += p * going_on[i].share;
    if (p > kLeastGoingOn) {
      likeliest.add({p, static_cast<std::uint32_t>(i)});
    }
  }
  const auto best = likeliest.sorted();
  for (std::size_t i = 0; i < best.size(); ++i) {
    node->going_on[i] = going_on[best[i].second].token;
  }
  node->going_on_count = static_cast<std::uint8_t>(best.size());
  node->ends = std::max(0.0F, 1 - mass);
}

Status DeepTree::grow(std::span<const Growth> growths, const base::CancelFlag* cancel) {
  drop_lost_nodes();
  const std::size_t count = growths.size();
  if (!ready_ || count == 0 || count > model::kMaxColumns || count > free_nodes() ||
      count > cache_.options().tree_nodes - cache_.node_count()) {
    return Error{ErrorCode::Internal,
                 "deep tree: cannot grow by " + std::to_string(count) + " nodes"};
  }
  std::array<model::Column, model::kMaxColumns> columns;
  const std::size_t have = nodes_.size();
  const auto first = static_cast<model::KvNodeId>(cache_.node_count());
  for (std::size_t i = 0; i < count; ++i) {
    const int parent = growths[i].parent;
    columns[i].token = growths[i].token;
    if (parent == kRootNode) {
      columns[i].parent = model::kRoot;
    } else if (static_cast<std::size_t>(parent) < have) {
      columns[i].parent = nodes_[static_cast<std::size_t>(parent)].cache_node;
    } else {
      columns[i].parent =
          first + static_cast<model::KvNodeId>(static_cast<std::size_t>(parent) - have);
    }
  }
  const std::span<float> hidden(hidden_.data() + have * dim_, count * dim_);
  Status status =
      decoder_->grow(*workspace_, cache_, std::span(columns.data(), count), hidden, cancel);
  if (!status) {
    return status;
  }
  ++passes_;
  columns_ += count;
  const std::span<float> probs(probs_.data() + have * width_, count * width_);
  status = decoder_->logits(*workspace_, hidden, count, probs);
  if (!status) {
    cache_.drop_nodes_from(first);
    return status;
  }
  heads_ += count;
  ++version_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<float> row = probs.subspan(i * width_, width_);
    softmax_in_place(row, sharpness_);
    Node node{};
    node.parent = growths[i].parent;
    node.token = growths[i].token;
    node.cache_node = first + static_cast<model::KvNodeId>(i);
    look_at(&node, row);
    nodes_.push_back(node);
  }
  return {};
}

}  // namespace laya::predict
