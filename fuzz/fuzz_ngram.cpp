// An n-gram table from any bytes: opening answers with an error or a table that gives wrong words
// at worst.
#include <array>
#include <cmath>
#include <string>

#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"
#include "model/ngram/ngram.h"

using laya::format::Forgery;
using laya::format::ModelFile;
using laya::fuzz::require;
using laya::model::NgramContext;
using laya::model::NgramModel;
using laya::model::RecentMix;
using laya::model::RecentWords;
using laya::model::Scored;

namespace {

void check(const NgramModel& ngrams, std::span<const Scored> list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    require(list[i].word < ngrams.size());
    require(!std::isnan(list[i].log_prob));
    require(i == 0 || list[i - 1].log_prob >= list[i].log_prob);
    static_cast<void>(ngrams.text(list[i].word).size() + ngrams.display(list[i].word).size());
  }
}

void look(const NgramModel& ngrams, const NgramContext& context, const RecentWords& recent) {
  std::array<Scored, 5> best;
  const std::span<const Scored> all(best);
  for (const char* prefix : {"", "h", "the", "\xE4", "zzz"}) {
    check(ngrams, all.first(ngrams.top_words(context, prefix, best)));
    check(ngrams, all.first(ngrams.top_words(context, prefix, recent, RecentMix{}, best)));
  }
  check(ngrams, all.first(ngrams.top_han(context, best)));
  check(ngrams, all.first(ngrams.top_characters(context, best)));
  check(ngrams, all.first(ngrams.top_any(context, best)));
  check(ngrams, all.first(ngrams.top_any(context, recent, RecentMix{}, best)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  input.seal();
  const auto file = ModelFile::parse(input.bytes(), laya::format::Verify::Structure, "input");
  if (!file) {
    return 0;
  }
  const auto ngrams = NgramModel::open(*file);
  if (!ngrams) {
    require(ngrams.error().message.starts_with("input"));
    return 0;
  }
  RecentWords recent;
  look(*ngrams, ngrams->none(), recent);
  NgramContext context = ngrams->start();
  for (const char* unit : {"he", "hello", "我", "们", ",", "nowhere"}) {
    look(*ngrams, context, recent);
    const auto word = ngrams->find(unit);
    require(word < ngrams->size());
    require(!std::isnan(ngrams->log_prob(context, word)));
    recent.push(context.last, word);
    ngrams->push(&context, word);
  }
  ngrams->push(&context, ~0u);
  look(*ngrams, context, recent);
  return 0;
}
