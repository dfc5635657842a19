#include "predict/deep/deep_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "predict/deep/test_deep_models.h"
#include "predict/session/test_engine.h"
#include "predict/source/softmax.h"

namespace laya::predict {
namespace {

using Tokens = std::vector<TokenId>;
using Growths = std::vector<DeepTree::Growth>;

struct Fixture {
  DeepTree tree() const {
    return {model.get(), index, model::Threads::One, kContextTokens, /*sharpness=*/1};
  }
  Tokens read(std::string_view text) const {
    Tokens tokens{tokenizer.bos()};
    tokenizer.encode(text, tokens, nullptr);
    return tokens;
  }
  TokenId token(std::string_view bytes) const {
    const TokenId found = tokenizer.find(bytes);
    EXPECT_NE(found, kNoToken) << bytes;
    return found;
  }
  /// p(· | tokens) by one prefill: the definition.
  std::vector<float> defined(const Tokens& tokens) const {
    const auto workspace = model.get().make_workspace();
    model::KvCache cache(model.get().config());
    std::vector<float> hidden(model.get().config().hidden_dim);
    std::vector<float> probs(model.get().config().vocabulary_size);
    EXPECT_TRUE(model.get().prefill(*workspace, cache, tokens, hidden));
    EXPECT_TRUE(model.get().logits(*workspace, hidden, 1, probs));
    softmax_in_place(probs);
    return probs;
  }

  static constexpr std::size_t kContextTokens = 128;
  text::SubwordTokenizer tokenizer = small_tokenizer();
  SmallDecoder model{tokenizer.size(), model::DecoderFamily::Llama, 5};
  DeepIndex index{tokenizer, table_engine().index(), table_engine().ngrams()};
};

void expect_near(std::span<const float> got, std::span<const float> wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], 1e-4F) << "token " << i;
  }
}

TEST(DeepTree, KnowsWhatFollowsTheRootAndEachNode) {
  const Fixture f;
  DeepTree tree = f.tree();
  const Tokens root = f.read("see you");
  ASSERT_TRUE(tree.move_to(root, nullptr));
  expect_near(tree.probs(DeepTree::kRootNode), f.defined(root));
  // " tom" · "orrow" in one call, " the" beside them.
  const Growths growths{{DeepTree::kRootNode, f.token(" tom")},
                        {0, f.token("orrow")},
                        {DeepTree::kRootNode, f.token(" the")}};
  ASSERT_TRUE(tree.grow(growths, nullptr));
  const std::vector<Tokens> paths{
      {growths[0].token}, {growths[0].token, growths[1].token}, {growths[2].token}};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    SCOPED_TRACE(i);
    Tokens whole = root;
    whole.insert(whole.end(), paths[i].begin(), paths[i].end());
    expect_near(tree.probs(static_cast<int>(i)), f.defined(whole));
    EXPECT_EQ(tree.find(growths[i].parent, growths[i].token), static_cast<int>(i));
  }
  EXPECT_EQ(tree.find(2, growths[1].token), DeepTree::kNone);
  EXPECT_EQ(tree.find(DeepTree::kRootNode, growths[1].token), DeepTree::kNone);
}

// What an edit does to the root: each line is the text then. Whatever was known, the answer is the
// one that reading it afresh gives.
TEST(DeepTree, MovesAnywhereAndKnowsTheSame) {
  const Fixture f;
  DeepTree tree = f.tree();
  for (const char* text :
       {"see", "see you", "see you tom", "see you", "see", "see the", "see you", "thank you",
        "thank you very much", "我们明天", "我们", "t", "thank you very much for the", "thank"}) {
    SCOPED_TRACE(text);
    const Tokens wanted = f.read(text);
    ASSERT_TRUE(tree.move_to(wanted, nullptr));
    EXPECT_TRUE(tree.ready());
    EXPECT_TRUE(tree.is_at(wanted));
    expect_near(tree.probs(DeepTree::kRootNode), f.defined(wanted));
    const TokenId next = f.token("in");
    if (tree.find(DeepTree::kRootNode, next) == DeepTree::kNone) {
      ASSERT_TRUE(tree.grow(Growths{{DeepTree::kRootNode, next}}, nullptr));
    }
  }
}

TEST(DeepTree, GoesOnAlongItsNodesAndBackWithoutAPass) {
  const Fixture f;
  DeepTree tree = f.tree();
  const Tokens root = f.read("see you");
  ASSERT_TRUE(tree.move_to(root, nullptr));
  ASSERT_TRUE(
      tree.grow(Growths{{DeepTree::kRootNode, f.token(" tom")}, {0, f.token("orrow")}}, nullptr));
  const std::uint64_t passes = tree.passes();
  const std::uint64_t version = tree.version();
  Tokens longer = root;
  longer.push_back(f.token(" tom"));
  longer.push_back(f.token("orrow"));
  ASSERT_TRUE(tree.move_to(longer, nullptr));
  EXPECT_EQ(tree.passes(), passes);
  EXPECT_NE(tree.version(), version);
  EXPECT_TRUE(tree.nodes().empty()) << "they lie behind the root now";
  expect_near(tree.probs(DeepTree::kRootNode), f.defined(longer));
  ASSERT_TRUE(tree.move_to(root, nullptr));  // its hidden state is remembered
  EXPECT_EQ(tree.passes(), passes);
  expect_near(tree.probs(DeepTree::kRootNode), f.defined(root));
  const std::uint64_t here = tree.version();
  ASSERT_TRUE(tree.move_to(root, nullptr));
  EXPECT_EQ(tree.version(), here) << "nothing moved";
}

TEST(DeepTree, NodesNameTheLikeliestTokensThatGoOnInsideAWord) {
  const Fixture f;
  DeepTree tree = f.tree();
  for (const char* text : {"see", "thank you", "we t"}) {
    ASSERT_TRUE(tree.move_to(f.read(text), nullptr));
    ASSERT_TRUE(tree.grow(Growths{{DeepTree::kRootNode, f.token(" tom")}}, nullptr));
    const DeepTree::Node& node = tree.nodes()[0];
    const std::span<const float> probs = tree.probs(0);
    std::vector<std::pair<float, TokenId>> all;
    float mass = 0;
    for (const DeepGoingOn& next : f.index.going_on()) {
      mass += probs[next.token] * next.share;
      if (probs[next.token] > 1e-4F) {
        all.emplace_back(probs[next.token], next.token);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    ASSERT_GT(all.size(), DeepTree::kBest) << "else nothing is left out";
    ASSERT_EQ(node.going_on_count, DeepTree::kBest);
    for (std::size_t i = 0; i < DeepTree::kBest; ++i) {
      EXPECT_EQ(node.going_on[i], all[i].second) << text << ' ' << i;
    }
    EXPECT_NEAR(node.ends, 1 - mass, 1e-5F);
  }
}

TEST(DeepTree, RefusesWhatDoesNotFitAndStaysAsItIs) {
  const Fixture f;
  DeepTree tree = f.tree();
  const Growths one{{DeepTree::kRootNode, f.token("in")}};
  EXPECT_FALSE(tree.grow(one, nullptr)) << "there is no root yet";
  ASSERT_TRUE(tree.move_to(f.read("see"), nullptr));
  EXPECT_FALSE(tree.grow({}, nullptr));
  Growths many;
  for (TokenId token = 10; many.size() < 17; ++token) {
    many.push_back({DeepTree::kRootNode, token});
  }
  EXPECT_FALSE(tree.grow(many, nullptr)) << "a pass has 16 columns";
  EXPECT_TRUE(tree.nodes().empty());
  many.pop_back();
  ASSERT_TRUE(tree.grow(many, nullptr));
  for (DeepTree::Growth& growth : many) growth.token += 16;
  ASSERT_TRUE(tree.grow(many, nullptr));
  ASSERT_EQ(tree.free_nodes(), DeepTree::kMaxNodes - 32);
  for (DeepTree::Growth& growth : many) growth.token += 16;
  const std::uint64_t version = tree.version();
  EXPECT_FALSE(tree.grow(many, nullptr)) << "16 do not fit where 8 do";
  EXPECT_EQ(tree.nodes().size(), 32u);
  EXPECT_EQ(tree.version(), version);
  many.resize(tree.free_nodes());
  EXPECT_TRUE(tree.grow(many, nullptr));
  EXPECT_EQ(tree.free_nodes(), 0u);
}

TEST(DeepTree, IsCancelledAndGoesOnFromThere) {
  const Fixture f;
  DeepTree tree = f.tree();
  ASSERT_TRUE(tree.move_to(f.read("see"), nullptr));
  base::CancelFlag cancel;
  cancel.cancel();
  const Tokens wanted = f.read("see you very much");
  const Status stopped = tree.move_to(wanted, &cancel);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_FALSE(tree.ready());
  EXPECT_FALSE(tree.is_at(wanted));
  ASSERT_TRUE(tree.move_to(wanted, nullptr));
  expect_near(tree.probs(DeepTree::kRootNode), f.defined(wanted));
  tree.clear();
  EXPECT_FALSE(tree.ready());
  ASSERT_TRUE(tree.move_to(wanted, nullptr));
  expect_near(tree.probs(DeepTree::kRootNode), f.defined(wanted));
}

}  // namespace
}  // namespace laya::predict
