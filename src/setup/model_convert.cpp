// Installing's converter: src/convert's, told what the catalogue knows. The only file here that
// knows it.
#include "convert/convert.h"
#include "convert/convert_keep.h"
#include "format/checkpoint.h"
#include "setup/model_install.h"

namespace laya::setup {

Status convert_checkpoint(const ConvertRequest& request, Progress& progress) {
  const Result<format::Checkpoint> checkpoint = format::Checkpoint::open(request.source);
  if (!checkpoint) return checkpoint.error();
  convert::ConvertOptions options;
  options.name = request.title;
  options.licence = request.licence;
  options.sources = request.origins;
  if (!request.keep_languages.empty()) {
    Result<std::vector<TokenId>> kept = convert::kept_tokens(*checkpoint, request.keep_languages);
    if (!kept) return std::move(kept).error();
    options.kept = std::move(kept).value();
  }
  options.progress = [&](std::string_view stage, double done) {
    progress.show(std::string("converting: ") + std::string(stage), done);
  };
  const auto report = convert::convert(*checkpoint, options, request.target);
  return report ? Status() : Status(report.error());
}

}  // namespace laya::setup
