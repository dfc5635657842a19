// `laya eval bpc`: bits per character.
#include <cstdio>
#include <iostream>
#include <memory>

#include "eval/evaluate_bpc.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

void print_bits(const char* name, const std::optional<eval::BpcResult::Bits>& bits) {
  if (bits) {
    std::printf("  %-28s %.3f bits per character (%.3f–%.3f), %.2f tokens per character\n", name,
                bits->bits, bits->interval.low, bits->interval.high, bits->tokens_per_character);
  }
}

void evaluate(const EvalText& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options);
  if (!lines) return fail(outcome, lines.error());
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  eval::BpcOptions bpc;
  bpc.max_lines = options.lines;
  bpc.progress = progress();
  const Result<eval::BpcResult> result = evaluate_bpc(**engine, *lines, bpc);
  if (!result) return fail(outcome, result.error());
  const std::string deep = (*engine)->deep() != nullptr ? setup::deep_name(options.model) : "";
  if (options.json) {
    nlohmann::ordered_json json = result_head("bpc", options);
    json.update(nlohmann::ordered_json::parse(eval::to_json(*result), nullptr, false));
    json["deep_model"] =
        deep.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(deep);
    std::cout << to_line(json) << std::endl;
    return;
  }
  std::printf("%zu lines, %llu characters; 95 %% intervals\n", result->lines,
              static_cast<unsigned long long>(result->characters));
  print_bits("network, without the table", result->network);
  print_bits(deep.c_str(), result->decoder);
}

}  // namespace

void add_eval_bpc(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<EvalText>();
  CLI::App* command = eval.add_subcommand(
      "bpc", "bits per character: how well network and decoder know a text, whatever for");
  add_eval_set(*command, *options);
  command->footer(
      "Of a line, its first 480 bytes. The n-gram table knows no spelling and is not measured.\n"
      "example: laya eval bpc --file mails.txt --lines 600 --deep smollm2-135m");
  command->callback([options, &outcome] { evaluate(*options, outcome); });
}

}  // namespace laya::apps
