// EmojiSource: offers emoji by what is typed.
//   :smi         asked for: every emoji whose name or keyword begins so, in place of ":smi"
//   pizza        a whole word that names one: "pizza 🍕", behind a likely word's own endings
//   pizza␣       the same when the space is typed: "🍕"
//   生日          "🎂"
// Emoji are whole sequences here and everywhere (complaint 30). Nothing typed is replaced but what
// begins with the colon.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "predict/offers/emoji_table.h"
#include "predict/offers/offer.h"

namespace laya::predict {

class EmojiSource : public OfferSource {
 public:
  static constexpr std::size_t kMostAsked = 16;  ///< offers behind a colon

  explicit EmojiSource(std::shared_ptr<const EmojiTable> table) : table_(std::move(table)) {}

  void offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
             OfferList* out) override;

 private:
  bool offer_asked(const TypedText& text, OfferList* out) const;
  void offer_behind_latin(const TypedText& text, const WordQuery& query, const WordPool& pool,
                          OfferList* out);
  void offer_behind_han(const TypedText& text, OfferList* out) const;

  std::shared_ptr<const EmojiTable> table_;  // all sessions share it
  std::array<char, 256> bytes_{};            // "pizza 🍕"
};

}  // namespace laya::predict
