// A lexicon from any bytes: opening answers with an error or a lexicon that gives wrong words at
// worst. The corpus is what train::write_lexicon makes of ten words.
#include <array>
#include <cmath>
#include <string>

#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"
#include "predict/offers/corrector.h"
#include "predict/offers/lexicon.h"

using laya::format::Forgery;
using laya::format::ModelFile;
using laya::fuzz::require;
using laya::predict::Completion;
using laya::predict::Corrector;
using laya::predict::Lexicon;
using laya::predict::Typing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  input.seal();
  const auto file = ModelFile::parse(input.bytes(), laya::format::Verify::Structure, "input");
  if (!file) {
    return 0;
  }
  const auto lexicon = Lexicon::from_blobs(
      [&](std::string_view name) {
        const auto* entry = file->find(name);
        return entry == nullptr ? std::span<const std::byte>{} : file->bytes_of(*entry);
      },
      "input");
  if (!lexicon) {
    require(lexicon.error().message.starts_with("input"));
    return 0;
  }
  for (const char* word : {"the", "dont", "cat's", "zzz", "\xC3\xA9"}) {
    const std::uint32_t found = lexicon->find(word);
    require(found == Lexicon::kNoWord || found < lexicon->size());
    require(!std::isnan(lexicon->log_spelling(word)));
    if (found != Lexicon::kNoWord) {
      std::array<char, 48> form;
      require(lexicon->write_form(found, word, form) <= form.size());
    }
  }
  std::array<Completion, 4> best;
  for (const char* prefix : {"", "t", "the"}) {
    const std::size_t count = lexicon->complete(prefix, best);
    require(count <= best.size());
    for (std::size_t i = 0; i < count; ++i) {
      require(best[i].key().size() <= best[i].bytes.size());
    }
  }
  Corrector corrector(*lexicon, nullptr);
  for (const char* typed : {"teh", "becuase"}) {
    for (const Typing typing : {Typing::Open, Typing::Finished}) {
      for (const auto& correction : corrector.correct("in ", typed, typing)) {
        require(!correction.text.empty() && !std::isnan(correction.probability));
      }
    }
  }
  return 0;
}
