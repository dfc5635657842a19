#include "predict/engine/offer_sources.h"

#include "predict/engine/engine_parts.h"
#include "predict/offers/correction_source.h"
#include "predict/offers/emoji_source.h"
#include "predict/offers/lexicon_source.h"

namespace laya::predict {

Result<std::vector<OfferSourceFactory>> open_offer_sources(
    const EnginePaths& paths, std::shared_ptr<const model::NgramModel> ngrams) {
  std::vector<OfferSourceFactory> factories;
  if (!paths.lexicon_path.empty()) {
    Result<std::shared_ptr<const Lexicon>> lexicon = Lexicon::open(paths.lexicon_path);
    if (!lexicon) {
      return lexicon.error();
    }
    factories.push_back([lexicon = *lexicon, ngrams]() -> std::unique_ptr<OfferSource> {
      return std::make_unique<LexiconSource>(lexicon, ngrams.get());
    });
    factories.push_back([lexicon = *lexicon, ngrams]() -> std::unique_ptr<OfferSource> {
      return std::make_unique<CorrectionSource>(lexicon, ngrams.get());
    });
  }
  if (!paths.emoji_path.empty()) {
    Result<EmojiTable> table = EmojiTable::open(paths.emoji_path);
    if (!table) {
      return table.error();
    }
    const auto shared = std::make_shared<const EmojiTable>(std::move(*table));
    factories.push_back([shared]() -> std::unique_ptr<OfferSource> {
      return std::make_unique<EmojiSource>(shared);
    });
  }
  return factories;
}

}  // namespace laya::predict
