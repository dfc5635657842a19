// A decoder from any bytes: loading answers with an error or a decoder, and what it computes is
// finite or an error.
#include <cmath>
#include <string>
#include <vector>

#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"
#include "model/backends/cpu.h"
#include "model/backends/reference.h"
#include "model/decoder/decoder_loading.h"

using laya::ErrorCode;
using laya::Status;
using laya::TokenId;
using laya::format::Forgery;
using laya::format::ModelFile;
using laya::fuzz::require;

namespace {

bool all_finite(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

void run(const laya::model::Decoder& decoder) {
  const auto& config = decoder.config();
  const laya::model::KvOptions options{4, 2, laya::model::KvType::F16, 0};
  if (!laya::model::KvCache::check(config, options)) return;
  laya::model::KvCache cache(config, options);
  const auto workspace = decoder.make_workspace();
  std::vector<float> hidden(config.hidden_dim), both(2 * hidden.size());
  std::vector<float> logits(config.vocabulary_size);
  const TokenId last = config.vocabulary_size - 1;
  const std::vector<TokenId> tokens = {0, last, 1 % config.vocabulary_size, last, 0};
  Status done = decoder.prefill(*workspace, cache, tokens, hidden);
  if (done) {
    require(all_finite(hidden));
    done = decoder.logits(*workspace, hidden, 1, logits);
  }
  if (done) {
    require(all_finite(logits));
    const laya::model::Column columns[] = {{laya::model::kRoot, last}, {0, 0}};
    done = decoder.grow(*workspace, cache, columns, both);
  }
  // max_context may be shorter than what was asked for.
  require(done ? all_finite(both)
               : done.error().code == ErrorCode::Corrupt ||
                     done.error().code == ErrorCode::BadArgument);
  require(!decoder.prefill(*workspace, cache, {{config.vocabulary_size}}, hidden));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  input.seal();  // damage of weights passes Structure by itself; that of the directory and metadata
                 // is let through
  const auto file = ModelFile::parse(input.bytes(), laya::format::Verify::Structure, "input");
  if (!file) {
    return 0;
  }
  for (const auto backend : {laya::model::reference_backend(), laya::model::cpu_backend()}) {
    const auto decoder = laya::model::load_decoder(*file, backend);
    if (decoder) {
      run(**decoder);
    } else {
      require(decoder.error().message.find("input") != std::string::npos);
    }
  }
  return 0;
}
