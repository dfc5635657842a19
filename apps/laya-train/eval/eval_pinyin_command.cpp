#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "eval/evaluate_pinyin.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "laya-train/peers/peer_process.h"

namespace laya::apps {
namespace {

struct PinyinOptions {
  setup::ModelOptions model;
  std::string file;
  std::string peer;
  std::size_t sentences = 0;
  bool no_context = false;
  bool json = false;
};

/// The driver of libime, built beside this program.
std::string peer_program() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "libime_keys" : (own.parent_path() / "libime_keys").string();
}

Result<eval::PinyinAnswer> ask_peer(PeerProcess& peer, const std::string& typed) {
  const Result<nlohmann::json> reply = peer.ask({{"typed", typed}});
  if (!reply) return reply.error();
  const auto first = reply->find("first");
  const auto times = reply->find("key_ns");
  if (first == reply->end() || !first->is_array() || times == reply->end() || !times->is_array()) {
    return Error{ErrorCode::Corrupt, "libime_keys: answers without \"first\" or \"key_ns\""};
  }
  eval::PinyinAnswer answer;
  for (const auto& text : *first) {
    if (text.is_string()) answer.first.push_back(text.get<std::string>());
  }
  for (const auto& time : *times) {
    if (time.is_number_integer()) answer.key_ns.push_back(time.get<std::int64_t>());
  }
  return answer;
}

/// libime on the same sentences; none, and a line that says why, where it cannot be asked.
std::optional<eval::PinyinResult> measure_peer(const PinyinOptions& options,
                                               const std::vector<eval::NbestSentence>& sentences,
                                               const eval::PinyinEvalOptions& how) {
  if (options.peer == "none") {
    return std::nullopt;
  }
  auto peer = PeerProcess::start({options.peer.empty() ? peer_program() : options.peer});
  if (!peer) {
    std::cerr << "libime: not measured: " << peer.error().message << std::endl;
    return std::nullopt;
  }
  auto result = eval::evaluate_pinyin(
      sentences,
      [&](const std::string& typed, const std::string&) { return ask_peer(*peer, typed); }, how);
  if (!result) {
    std::cerr << "libime: not measured: " << result.error().message << std::endl;
    return std::nullopt;
  }
  return std::move(*result);
}

void print(const char* name, const eval::PinyinResult& result) {
  std::printf(
      "  %-10s first right %5.1f %% [%.1f, %.1f], among five %5.1f %%, characters %5.2f %%; "
      "a key %.2f ms (p99 %.2f)",
      name, 100 * result.p_at_1, 100 * result.p_at_1_interval.low,
      100 * result.p_at_1_interval.high, 100 * result.p_at_5, 100 * result.char_accuracy,
      result.key_us_p50 / 1e3, result.key_us_p99 / 1e3);
  if (result.deep_ms_p99 > 0) {
    std::printf("; re-ordered in %.1f ms (p99 %.1f)", result.deep_ms_p50, result.deep_ms_p99);
  }
  std::printf("\n");
}

void evaluate(const PinyinOptions& options, Outcome& outcome) {
  const Result<std::string> text = read_text(options.file);
  if (!text) return fail(outcome, text.error());
  auto sentences = eval::parse_nbest(*text);
  if (!sentences) {
    return fail(outcome, {sentences.error().code, options.file + ": " + sentences.error().message});
  }
  if (sentences->empty()) {
    return fail(outcome,
                {ErrorCode::BadArgument, options.file + ": has no line typed<TAB>expected"});
  }
  if (options.no_context) {
    for (eval::NbestSentence& sentence : *sentences) sentence.before.clear();
  }
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  auto data = pinyin::load_libime({});
  if (!data) return fail(outcome, data.error());
  const predict::PinyinModel model(**engine, std::move(*data));

  eval::PinyinEvalOptions how;
  how.max_sentences = options.sentences;
  how.progress = progress();
  const auto instant =
      eval::evaluate_pinyin(*sentences, eval::our_typist(model, eval::PinyinTiers::Instant), how);
  if (!instant) return fail(outcome, instant.error());
  std::optional<eval::PinyinResult> both;
  if ((*engine)->deep() != nullptr) {
    auto result =
        eval::evaluate_pinyin(*sentences, eval::our_typist(model, eval::PinyinTiers::Both), how);
    if (!result) return fail(outcome, result.error());
    both = std::move(*result);
  }
  const auto peer = measure_peer(options, *sentences, how);
  const eval::PinyinResult& ours = both ? *both : *instant;
  if (!options.json) {
    std::printf("%zu sentences\n", ours.sentences);
    print("instant", *instant);
    if (both) print(setup::deep_name(options.model).c_str(), *both);
    if (peer) print("libime", *peer);
    return;
  }
  auto json = nlohmann::ordered_json::parse(eval::to_json(ours));
  json["deep_model"] = nullptr;
  json["instant"] = nullptr;
  if (both) {
    json["deep_model"] = setup::deep_name(options.model);
    json["instant"] = nlohmann::ordered_json::parse(eval::to_json(*instant));
  }
  json["libime"] = nullptr;
  if (peer) {
    json["libime"] = nlohmann::ordered_json::parse(eval::to_json(*peer));
    json["over_libime"] = nlohmann::ordered_json::parse(eval::difference_to_json(ours, *peer));
    if (both) {
      json["instant_over_libime"] =
          nlohmann::ordered_json::parse(eval::difference_to_json(*instant, *peer));
    }
  }
  std::cout << to_line(json) << std::endl;
}

}  // namespace

void add_eval_pinyin(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<PinyinOptions>();
  CLI::App* command = eval.add_subcommand(
      "pinyin",
      "pinyin sentences typed key by key: first right, among five, characters, time a key");
  command
      ->add_option("-f,--file", options->file,
                   "lines typed<TAB>expected, and #before<TAB>text for what stands left of the "
                   "next; - is standard input")
      ->required();
  command->add_option("--sentences", options->sentences, "only the first N (0: all)");
  command->add_flag("--no-context", options->no_context, "leave #before lines out");
  command->add_option(
      "--peer", options->peer,
      "libime's driver, measured on the same sentences (default: libime_keys beside "
      "this program); none leaves it out");
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "With a decoder the outer figures are those of both tiers, re-ordered after the last key, "
      "and "
      "\"instant\" holds the instant tier's alone. libime is not told what stands before.\n"
      "bench/peers/make_pinyin.py writes such files.\n"
      "example: laya eval pinyin --file pinyin.tsv --json | jq .over_libime");
  command->callback([options, &outcome] { evaluate(*options, outcome); });
}

}  // namespace laya::apps
