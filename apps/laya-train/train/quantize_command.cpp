#include "laya-train/train/quantize_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "base/utf8.h"
#include "format/model_file.h"
#include "laya-train/train/quantize_decision.h"
#include "model/decision/decision_config.h"
#include "model/gru/compare_models.h"
#include "model/gru/gru_cpu_backend.h"
#include "model/gru/model_loading.h"
#include "model/gru/quantize.h"
#include "model/gru/rotation.h"
#include "simd/dispatch.h"
#include "text/tokenizer.h"

namespace laya::apps {
namespace {

struct QuantizeOptions {
  std::string in;
  std::string out;
  int bits = 8;
  int group = 64;
  bool minima = false;
  std::vector<std::string> kept;   ///< TENSOR=PRECISION
  std::vector<std::string> texts;  ///< to measure on
  std::size_t tokens = 20000;
  std::size_t contexts = 1000;
  double target = 0.98;
  std::string examples;  ///< of a decision model, to measure on
  bool sensitivity = false;
  bool automatic = false;
  bool json = false;
};

/// What is printed at the end.
struct Report {
  model::QuantizeRecipe recipe;
  std::vector<model::Sensitivity> sensitivity;  ///< worst first; empty where not asked for
  model::Comparison comparison;
  double characters = 0;  ///< 0: nothing was measured
  std::vector<std::string> raised;
};

std::string percent(double share) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f %%", share * 100);
  return text.data();
}

std::string decimal(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4f", value);
  return text.data();
}

/// With its sign; 0 has none.
std::string difference(double value) {
  const std::string text = decimal(value);
  return text == "-0.0000" ? "0.0000" : value > 0 ? "+" + text : text;
}

Result<model::QuantizeRecipe> recipe_of(const QuantizeOptions& options) {
  model::QuantizeRecipe recipe;
  recipe.standard.type = options.bits == 4 ? simd::WeightType::Int4 : simd::WeightType::Int8;
  recipe.standard.group = static_cast<std::uint16_t>(options.group);
  recipe.standard.minima = options.minima ? simd::Minima::PerGroup : simd::Minima::None;
  for (const std::string& kept : options.kept) {
    const std::size_t equals = kept.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorCode::BadArgument,
                   "--keep '" + kept + "' is not TENSOR=PRECISION (as in out_proj.weight=fp16)"};
    }
    auto precision =
        model::parse_precision(std::string_view(kept).substr(equals + 1), recipe.standard);
    if (!precision) {
      return precision.error();
    }
    recipe.exceptions[kept.substr(0, equals)] = *precision;
  }
  return recipe;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      lines.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Lines from all over each text, until it has given its share of the tokens: each a sequence from
/// BOS to its newline.
Result<model::MeasuringText> measuring_text(const text::Tokenizer& tokenizer,
                                            const QuantizeOptions& options) {
  constexpr std::size_t kPasses =
      64;  // the n-th pass takes every 64th line; a short text is taken whole
  constexpr std::size_t kLongestLine =
      512;  // tokens; one long line must not be the whole measurement
  model::MeasuringText measuring;
  for (const std::string& path : options.texts) {
    auto text = read_text(path);
    if (!text) {
      return text.error();
    }
    const std::vector<std::string_view> lines = lines_of(*text);
    std::size_t left = std::max<std::size_t>(options.tokens / options.texts.size(), 1);
    for (std::size_t pass = 0; pass < kPasses && left > 0; ++pass) {
      for (std::size_t i = pass; i < lines.size() && left > 0; i += kPasses) {
        std::vector<TokenId> sequence = {tokenizer.vocabulary().begin_id()};
        tokenizer.encode(lines[i], sequence);
        if (sequence.size() >= kLongestLine) {
          continue;
        }
        sequence.push_back(tokenizer.vocabulary().newline_id());
        left -= std::min(left, sequence.size() - 1);
        measuring.characters += static_cast<double>(base::count_code_points(lines[i]) + 1);
        measuring.sequences.push_back(std::move(sequence));
      }
    }
  }
  return measuring;
}

Result<model::Comparison> compare(const model::GruConfig& config,
                                  const model::FloatWeights& weights,
                                  const model::QuantizeRecipe& recipe,
                                  const model::ExactAnswers& answers) {
  auto packed = model::quantize_weights(config, weights, recipe);
  if (!packed) {
    return packed.error();
  }
  return answers.compare(*model::make_cpu_model(config, std::move(*packed), simd::best_kernels()));
}

/// Fills the report's figures; with --auto raises the worst matrix until the target is reached.
Status measure(const QuantizeOptions& options, const format::ModelFile& file, Report& report) {
  auto config = model::read_gru_config(file);
  if (!config) {
    return config.error();
  }
  auto loaded = model::load_float_weights(file, *config);
  if (!loaded) {
    return loaded.error();
  }
  // As quantize_file does: what is measured is what is written.
  const model::OwnedFloatWeights weights = model::rotated_embedding(*config, loaded->weights);
  auto blob = file.blob("vocabulary");
  if (!blob) {
    return blob.error();
  }
  auto vocabulary = text::Vocabulary::parse(*blob);
  if (!vocabulary) {
    return vocabulary.error();
  }
  auto text = measuring_text(text::Tokenizer(std::move(*vocabulary)), options);
  if (!text) {
    return text.error();
  }
  report.characters = text->characters;
  model::QuantizeRecipe exact;
  exact.standard.type = simd::WeightType::Fp32;
  auto exact_weights = model::quantize_weights(*config, weights.weights, exact);
  if (!exact_weights) {
    return exact_weights.error();
  }
  auto answers = model::ExactAnswers::compute(
      *model::make_cpu_model(*config, std::move(*exact_weights), simd::best_kernels()), *text,
      options.contexts);
  if (!answers) {
    return answers.error();
  }
  auto comparison = compare(*config, weights.weights, report.recipe, *answers);
  if (!comparison) {
    return comparison.error();
  }
  report.comparison = *comparison;
  if (options.sensitivity || report.comparison.overlap < options.target) {
    auto found = model::measure_sensitivity(*config, weights.weights, report.recipe, *answers);
    if (!found) {
      return found.error();
    }
    report.sensitivity = std::move(*found);
  }
  // One step for each matrix, worst first, then a second for each: the worst one alone must not end
  // as fp32 while cheap steps are left.
  const std::size_t matrices = report.sensitivity.size();
  for (std::size_t step = 0; options.automatic && step < 2 * matrices; ++step) {
    if (report.comparison.overlap >= options.target) {
      break;
    }
    const std::string& tensor = report.sensitivity[step % matrices].tensor;
    report.recipe.exceptions[tensor] = model::raised(report.recipe.of(tensor));
    report.raised.push_back(tensor);
    comparison = compare(*config, weights.weights, report.recipe, *answers);
    if (!comparison) {
      return comparison.error();
    }
    report.comparison = *comparison;
  }
  return {};
}

double bits_per_character(double bits, const Report& report) { return bits / report.characters; }

void print_text(const QuantizeOptions& options, const Report& report) {
  std::error_code ignored;
  const auto before = std::filesystem::file_size(options.in, ignored);
  const auto after = std::filesystem::file_size(options.out, ignored);
  std::cout << options.out << ": " << after / 1000 << " kB (" << before / 1000 << " kB before), "
            << model::precision_text(report.recipe.standard) << "\n";
  for (const auto& [tensor, precision] : report.recipe.exceptions) {
    std::cout << "  " << tensor << " stays " << model::precision_text(precision) << "\n";
  }
  if (report.characters == 0) {
    std::cout << "nothing measured; --text FILE tells what it costs\n";
    return;
  }
  const model::Comparison& c = report.comparison;
  const double exact = bits_per_character(c.exact_bits, report);
  const double quantised = bits_per_character(c.quantised_bits, report);
  std::cout << "bits per character " << decimal(exact) << " in fp32, " << decimal(quantised)
            << " now (" << difference(quantised - exact) << ") over " << c.tokens << " tokens\n"
            << "candidates " << percent(c.overlap) << " the same (top " << model::kCandidates
            << ", " << c.contexts << " contexts), first one " << percent(c.same_first) << "\n";
  for (const model::Sensitivity& s : report.sensitivity) {
    std::cout << "  " << s.tensor << " alone as " << model::precision_text(s.precision) << ": "
              << percent(s.comparison.overlap) << ", "
              << difference(bits_per_character(
                     s.comparison.quantised_bits - s.comparison.exact_bits, report))
              << " bits per character\n";
  }
  if (c.overlap < options.target && !report.sensitivity.empty()) {
    const model::Sensitivity& worst = report.sensitivity.front();
    std::cout << "below " << percent(options.target) << ": " << worst.tensor
              << " spoils most; --keep " << worst.tensor << "="
              << model::precision_text(model::raised(worst.precision))
              << ", or --auto, keeps it more precise\n";
  }
}

/// What was measured; goes into the file too.
nlohmann::ordered_json measured_json(const Report& report) {
  const model::Comparison& c = report.comparison;
  return {{"tokens", c.tokens},
          {"bits_per_character",
           {{"fp32", bits_per_character(c.exact_bits, report)},
            {"quantised", bits_per_character(c.quantised_bits, report)}}},
          {"contexts", c.contexts},
          {"candidates", model::kCandidates},
          {"overlap", c.overlap},
          {"same_first", c.same_first}};
}

nlohmann::ordered_json report_json(const QuantizeOptions& options, const Report& report) {
  std::error_code ignored;
  nlohmann::ordered_json kept = nlohmann::ordered_json::object();
  for (const auto& [tensor, precision] : report.recipe.exceptions) {
    kept[tensor] = model::precision_text(precision);
  }
  nlohmann::ordered_json json = {{"out", options.out},
                                 {"bytes", std::filesystem::file_size(options.out, ignored)},
                                 {"precision", model::precision_text(report.recipe.standard)},
                                 {"kept", kept}};
  if (report.characters == 0) {
    return json;
  }
  json.update(measured_json(report));
  json["raised"] = report.raised;
  json["sensitivity"] = nlohmann::ordered_json::array();
  for (const model::Sensitivity& s : report.sensitivity) {
    json["sensitivity"].push_back(
        {{"tensor", s.tensor},
         {"precision", model::precision_text(s.precision)},
         {"overlap", s.comparison.overlap},
         {"bits_per_character_lost",
          bits_per_character(s.comparison.quantised_bits - s.comparison.exact_bits, report)}});
  }
  return json;
}

void quantize(const QuantizeOptions& options, Outcome& outcome) {
  const auto file = format::ModelFile::open(options.in, format::Verify::Full);
  if (!file) {
    return fail(outcome, file.error());
  }
  auto recipe = recipe_of(options);
  if (!recipe) {
    return fail(outcome, recipe.error());
  }
  if (model::is_decision_model(*file)) {
    if (!options.texts.empty() || options.automatic || options.sensitivity) {
      return fail_usage(outcome,
                        "a decision model reads no text: measure it by --examples FILE alone");
    }
    return quantize_decision(*file, *recipe, {options.out, options.examples, options.json},
                             outcome);
  }
  if (!options.examples.empty()) {
    return fail_usage(outcome, "--examples is for decision models; this one needs --text FILE");
  }
  Report report;
  report.recipe = std::move(*recipe);
  if (options.texts.empty() && (options.automatic || options.sensitivity)) {
    return fail_usage(outcome, "--auto and --sensitivity measure, so they need --text FILE");
  }
  if (!options.texts.empty()) {
    if (const Status status = measure(options, *file, report); !status) {
      return fail(outcome, status.error());
    }
  }
  const std::string measured = report.characters == 0 ? "" : to_line(measured_json(report));
  if (const Status status = model::quantize_file(*file, options.out, report.recipe, measured);
      !status) {
    return fail(outcome, status.error());
  }
  if (options.json) {
    std::cout << to_line(report_json(options, report)) << std::endl;
  } else {
    print_text(options, report);
    std::cout.flush();
  }
}

}  // namespace

void add_quantize_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<QuantizeOptions>();  // shared: CLI11 copies the callback
  CLI::App* command =
      app.add_subcommand("quantize", "a small model from an fp32 one, and what that costs");
  command->add_option("in", options->in, "the fp32 .laya file")->required();
  command->add_option("out", options->out, "the file to write")->required();
  command->add_option("--bits", options->bits, "bits a weight")
      ->check(CLI::IsMember({4, 8}))
      ->capture_default_str();
  command->add_option("--group", options->group, "weights that share a scale")
      ->check(CLI::IsMember({32, 64, 128}))
      ->capture_default_str();
  command->add_flag("--minima", options->minima, "each group has a minimum of its own");
  command->add_option(
      "--keep", options->kept,
      "TENSOR=PRECISION: store this matrix otherwise (int4, int8, with /32 /64 /128 and m; fp16)");
  command->add_option("--text", options->texts,
                      "measure the loss on this text, one sentence a line (repeatable)");
  command->add_option("--tokens", options->tokens, "measure on so many tokens")
      ->check(CLI::Range(100, 10000000))
      ->capture_default_str();
  command->add_option("--contexts", options->contexts, "compare candidates in so many places")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
  command->add_option("--target", options->target, "share of candidates that must stay the same")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_flag("--sensitivity", options->sensitivity, "what each matrix alone costs");
  command->add_flag("--auto", options->automatic,
                    "keep the matrices that spoil it more precise until the target is met");
  command->add_option(
      "--examples", options->examples,
      "of a decision model: compare on these decisions (see laya train ranker, mlp)");
  command->add_flag("--json", options->json, "one JSON object on one line");
  command->footer(
      "example: laya quantize run/gru-fp32.laya gru.laya --bits 4 --group 32 --text dev.txt "
      "--auto\n"
      "         laya quantize gestures.laya small.laya --group 32 --examples gestures.jsonl");
  command->callback([options, &outcome] { quantize(*options, outcome); });
}

}  // namespace laya::apps
