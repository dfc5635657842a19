#include "laya/models/convert_command.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel_flag.h"
#include "common/progress_line.h"
#include "convert/convert.h"
#include "convert/convert_keep.h"
#include "convert/convert_measure.h"
#include "convert/convert_texts.h"
#include "convert/convert_tokenizer.h"
#include "format/checkpoint.h"

namespace laya::apps {
namespace {

base::CancelFlag interrupted;  // set by the signal handler, which can reach nothing else

void interrupt(int) { interrupted.cancel(); }

struct ConvertFlags {
  std::string in, out, name;
  std::string keep;                     ///< languages
  std::vector<std::string> keep_texts;  ///< files
  std::string type = "auto";
  std::string head;
  std::vector<std::string> tensors;      ///< TENSOR=PRECISION
  std::vector<std::string> calibration;  ///< files
  std::vector<std::string> texts;        ///< files to measure on
  std::size_t contexts = 300;
  bool json = false;
};

std::string number(double value, const char* format) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string percent(double share) { return number(share * 100, "%.1f %%"); }

/// "model.gguf" and "folder/" give "model.laya" and "folder.laya", in the folder one is in.
std::string default_output(const std::string& in) {
  std::filesystem::path path(in);
  if (!path.has_filename()) path = path.parent_path();
  const std::string stem = path.stem().string();
  return (stem.empty() || stem == "." ? "model" : stem) + ".laya";
}

Result<std::vector<std::string>> read_lines(const std::vector<std::string>& paths) {
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    auto text = read_text(path);
    if (!text) return text.error();
    for (const std::string_view line : convert::lines_of(*text)) lines.emplace_back(line);
  }
  return lines;
}

/// Tokens that the user's own text meets.
Result<std::vector<TokenId>> met_in(const format::Checkpoint& checkpoint,
                                    const std::vector<std::string>& paths) {
  auto tokenizer = convert::read_source_tokenizer(checkpoint);
  if (!tokenizer) return tokenizer.error();
  std::vector<std::uint64_t> counts(tokenizer->size());
  for (const std::string& path : paths) {
    auto text = read_text(path);
    if (!text) return text.error();
    convert::count_tokens(*tokenizer, *text, counts);
  }
  std::vector<TokenId> met;
  for (TokenId id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) met.push_back(id);
  }
  if (met.empty()) return Error{ErrorCode::BadArgument, "--keep-text: no text in it"};
  return met;
}

Result<std::vector<TokenId>> kept_by(const ConvertFlags& flags,
                                     const format::Checkpoint& checkpoint) {
  std::vector<TokenId> kept;
  if (!flags.keep.empty() && flags.keep != "all") {
    auto listed = convert::kept_tokens(checkpoint, flags.keep);
    if (!listed) return listed.error();
    kept = std::move(*listed);
  }
  if (!flags.keep_texts.empty()) {
    auto met = met_in(checkpoint, flags.keep_texts);
    if (!met) return met.error();
    std::vector<TokenId> both;
    std::ranges::set_union(kept, *met, std::back_inserter(both));
    kept = std::move(both);
  }
  return kept;
}

/// What --type, --head and --tensor ask for.
Status set_precisions(const ConvertFlags& flags, convert::ConvertOptions& options) {
  model::Precision standard{simd::WeightType::Int4, 32, simd::Minima::PerGroup};
  if (flags.type == "source") {
    options.policy = convert::WeightPolicy::Source;
  } else if (flags.type != "auto") {
    const bool wide = flags.type.starts_with("int8");
    auto precision = model::parse_precision(
        flags.type,
        wide ? model::Precision{simd::WeightType::Int8, 32, simd::Minima::None} : standard);
    if (!precision)
      return Error{ErrorCode::BadArgument,
                   "--type: auto, source, or a " + precision.error().message};
    options.policy = convert::WeightPolicy::Fixed;
    options.precision = *precision;
  }
  if (!flags.head.empty()) {
    auto precision = model::parse_precision(flags.head, standard);
    if (!precision) return Error{ErrorCode::BadArgument, "--head: " + precision.error().message};
    options.head = *precision;
  }
  for (const std::string& asked : flags.tensors) {
    const std::size_t equals = asked.find('=');
    if (equals == std::string::npos) {
      return Error{
          ErrorCode::BadArgument,
          "--tensor '" + asked + "' is not TENSOR=PRECISION (as in layers.0.attn.v.weight=int8)"};
    }
    auto precision = model::parse_precision(std::string_view(asked).substr(equals + 1), standard);
    if (!precision) return Error{ErrorCode::BadArgument, "--tensor: " + precision.error().message};
    options.exceptions[asked.substr(0, equals)] = *precision;
  }
  return {};
}

// ---- what is printed ----

/// Matrices of the same kind in all layers, together.
struct Kind {
  std::string name;
  std::vector<std::string> from, to;  ///< "Q5_0", "Q8_0"; without repeats, most frequent first seen
  std::uint64_t bytes = 0;
  double worst_weight = 0, worst_output = 0;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::vector<Kind> kinds_of(const convert::ConvertReport& report) {
  std::vector<Kind> kinds;
  for (const convert::ConvertedTensor& tensor : report.tensors) {
    std::string name = tensor.name;
    if (name.starts_with("layers.")) name = "layers.*" + name.substr(name.find('.', 7));
    auto kind = std::ranges::find(kinds, name, &Kind::name);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), Kind{name, {}, {}, 0, 0, 0});
    add_once(kind->from, tensor.source);
    add_once(kind->to, tensor.precision);
    kind->bytes += tensor.bytes;
    kind->worst_weight = std::max(kind->worst_weight, tensor.relative_error);
    kind->worst_output = std::max(kind->worst_output, tensor.output_error);
  }
  return kinds;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

void print_tensors(const convert::ConvertReport& report) {
  std::cout << padded("matrices", 26) << padded("source", 18) << padded("stored as", 20)
            << padded("size", 11) << "largest error: weights, outputs\n";
  for (const Kind& kind : kinds_of(report)) {
    std::cout << padded(kind.name, 26) << padded(joined(kind.from), 18)
              << padded(joined(kind.to), 20) << padded(setup::megabytes_text(kind.bytes), 11)
              << number(kind.worst_weight * 100, "%.2f %%");
    if (kind.worst_output > 0) std::cout << number(kind.worst_output * 100, ", %.2f %%");
    std::cout << "\n";
  }
}

void print_parity_row(const char* what, const convert::Parity& parity) {
  std::cout << padded(what, 34) << padded(number(parity.mean_kl, "%.5f"), 10)
            << padded(number(parity.max_logit_error, "%.3f"), 14)
            << padded(percent(parity.overlap), 10) << padded(percent(parity.same_first), 10)
            << percent(parity.same_shown) << "\n";
}

void print_loss(const convert::ConversionLoss& loss) {
  std::cout << padded("against the source, " + std::to_string(loss.weights.contexts) + " contexts",
                      34)
            << padded("KL, nats", 10) << padded("largest logit", 14) << padded("top 10", 10)
            << padded("first", 10) << "same top 3\n";
  print_parity_row("  its weights, in fp32", loss.weights);
  print_parity_row("  as it runs (8-bit activations)", loss.run);
  if (loss.weights.overlap < convert::kWantedOverlap) {
    std::cout
        << "warning: " << percent(loss.weights.overlap) << " of the candidates are the same, under "
        << percent(convert::kWantedOverlap) << "; layers." << loss.worst_layer
        << " adds most to the difference. --type source keeps what the source has, --head int8 "
           "and --tensor NAME=int8 more of it\n";
  }
}

void print_text(const ConvertFlags& flags, const convert::ConvertReport& report,
                const std::optional<convert::ConversionLoss>& loss) {
  std::cout << flags.out << ": " << report.name << " (" << report.family << "), "
            << setup::megabytes_text(report.bytes) << " from "
            << setup::megabytes_text(report.source_bytes);
  if (report.config.vocabulary_size != report.source_vocabulary) {
    std::cout << ", " << report.config.vocabulary_size << " of " << report.source_vocabulary
              << " tokens kept";
  }
  std::cout << "\n";
  if (!report.licence.empty()) std::cout << "licence: " << report.licence << "\n";
  print_tensors(report);
  if (loss) {
    print_loss(*loss);
  } else {
    std::cout << "nothing measured (--contexts 0)\n";
  }
}

nlohmann::ordered_json parity_json(const convert::Parity& parity) {
  return {{"contexts", parity.contexts},
          {"mean_kl", parity.mean_kl},
          {"max_logit_error", parity.max_logit_error},
          {"overlap", parity.overlap},
          {"same_first", parity.same_first},
          {"same_top3", parity.same_shown}};
}

nlohmann::ordered_json report_json(const ConvertFlags& flags, const convert::ConvertReport& report,
                                   const std::optional<convert::ConversionLoss>& loss) {
  nlohmann::ordered_json json = {{"out", flags.out},
                                 {"name", report.name},
                                 {"family", report.family},
                                 {"licence", report.licence},
                                 {"bytes", report.bytes},
                                 {"source_bytes", report.source_bytes},
                                 {"source_vocabulary", report.source_vocabulary},
                                 {"vocabulary", report.config.vocabulary_size}};
  json["tensors"] = nlohmann::ordered_json::array();
  for (const convert::ConvertedTensor& tensor : report.tensors) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"source", tensor.source},
                               {"precision", tensor.precision},
                               {"bytes", tensor.bytes},
                               {"weight_error", tensor.relative_error},
                               {"output_error", tensor.output_error}});
  }
  if (loss) {
    json["weights"] = parity_json(loss->weights);
    json["run"] = parity_json(loss->run);
    json["worst_layer"] = loss->worst_layer;
    json["below_wanted_overlap"] = loss->weights.overlap < convert::kWantedOverlap;
  }
  return json;
}

Result<convert::ConversionLoss> measure(const ConvertFlags& flags,
                                        const format::Checkpoint& checkpoint,
                                        ProgressLine& progress) {
  auto own = read_lines(flags.texts);
  if (!own) return own.error();
  std::vector<std::string_view> texts(own->begin(), own->end());
  if (texts.empty()) {
    const auto built_in = convert::parity_texts();
    texts.assign(built_in.begin(), built_in.end());
  }
  convert::MeasureOptions options;
  options.contexts = flags.contexts;
  options.cancel = &interrupted;
  options.progress = [&](double done) { progress.show("measuring", done); };
  return convert::measure_conversion(checkpoint, flags.out, texts, options);
}

void convert(ConvertFlags& flags, Outcome& outcome) {
  const auto checkpoint = format::Checkpoint::open(flags.in);
  if (!checkpoint) return fail(outcome, checkpoint.error());
  if (flags.out.empty()) flags.out = default_output(flags.in);
  convert::ConvertOptions options;
  options.name = flags.name;
  options.cancel = &interrupted;
  if (auto status = set_precisions(flags, options); !status) return fail(outcome, status.error());
  auto kept = kept_by(flags, *checkpoint);
  if (!kept) return fail(outcome, kept.error());
  options.kept = std::move(*kept);
  auto calibration = read_lines(flags.calibration);
  if (!calibration) return fail(outcome, calibration.error());
  options.texts = std::move(*calibration);

  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  ProgressLine progress(stderr);
  options.progress = [&](std::string_view stage, double done) { progress.show(stage, done); };
  const auto report = convert::convert(*checkpoint, options, flags.out);
  progress.clear();
  if (!report) return fail(outcome, report.error());
  std::optional<convert::ConversionLoss> loss;
  if (flags.contexts > 0) {
    auto measured = measure(flags, *checkpoint, progress);
    progress.clear();
    if (!measured) {
      return fail(outcome, {measured.error().code, flags.out + " is written, but not measured: " +
                                                       measured.error().message});
    }
    loss = std::move(*measured);
  }
  if (flags.json) {
    std::cout << to_line(report_json(flags, *report, loss)) << std::endl;
  } else {
    print_text(flags, *report, loss);
    std::cout.flush();
  }
}

}  // namespace

void add_convert_command(CLI::App& app, Outcome& outcome) {
  auto flags = std::make_shared<ConvertFlags>();  // shared: CLI11 copies the callback
  CLI::App* command = app.add_subcommand(
      "convert", "a .laya from a GGUF, Hugging Face, MLX, llama2.c or PyTorch checkpoint");
  command->add_option("in", flags->in, "the checkpoint: a file or a folder")->required();
  command->add_option("-o,--out", flags->out, "the file to write (default: as the input, .laya)");
  command->add_option("--keep", flags->keep,
                      "languages whose tokens stay, as in zh,en; the rows of others go");
  command->add_option("--keep-text", flags->keep_texts,
                      "keep the tokens that this text needs (repeatable; adds to --keep)");
  command
      ->add_option("--type", flags->type,
                   "auto: 4 bits where they cost little; source: what the source has, group by "
                   "group; or int4, int8 (with /32 /64 /128 and m), fp16, fp32 for all")
      ->capture_default_str();
  command->add_option("--head", flags->head, "of the rows that make logits: int4, int8, fp16 …");
  command->add_option("--tensor", flags->tensors, "TENSOR=PRECISION: store this matrix otherwise");
  command->add_option(
      "--calibrate", flags->calibration,
      "text to choose 4-bit weights for, a sentence or more a line (default: built in)");
  command
      ->add_option("--contexts", flags->contexts,
                   "measure the loss in so many places; 0: do not measure")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command->add_option("--text", flags->texts, "text to measure on (default: built in)");
  command->add_option("--name", flags->name, "of the model (default: what the checkpoint says)");
  command->add_flag("--json", flags->json, "one JSON object on one line");
  command->footer(
      "examples: laya convert SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2.laya\n"
      "          laya convert gemma-3-270m-q4_k_m.gguf -o gemma.laya --keep zh,en\n"
      "          laya convert ./Qwen2.5-0.5B --type int8 --contexts 1000 --text my-notes.txt");
  command->callback([flags, &outcome] { convert(*flags, outcome); });
}

}  // namespace laya::apps
