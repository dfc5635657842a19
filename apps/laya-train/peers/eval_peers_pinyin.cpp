#include "laya-train/peers/eval_peers_pinyin.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "eval/evaluate_pinyin.h"

namespace laya::apps {
namespace {

using Json = nlohmann::ordered_json;

/// One line of the table.
struct Row {
  std::string name;
  eval::PinyinResult result;
};

Result<eval::PinyinAnswer> ask(PeerProcess& peer, const std::string& name,
                               const std::string& typed) {
  const Result<nlohmann::json> reply = peer.ask({{"typed", typed}});
  if (!reply) return Error{reply.error().code, name + ": " + reply.error().message};
  const auto list = [&](const char* key) {
    const auto found = reply->is_object() ? reply->find(key) : reply->end();
    return reply->is_object() && found != reply->end() && found->is_array() ? *found
                                                                            : nlohmann::json();
  };
  const nlohmann::json first = list("first");
  const nlohmann::json times = list("key_ns");
  if (!first.is_array() || !times.is_array()) {
    return Error{ErrorCode::Io, name + ": answers without \"first\" or \"key_ns\""};
  }
  eval::PinyinAnswer answer;
  for (const auto& text : first) {
    if (text.is_string()) answer.first.push_back(text.get<std::string>());
  }
  for (const auto& time : times) {
    if (time.is_number_integer()) answer.key_ns.push_back(time.get<std::int64_t>());
  }
  return answer;
}

void print_row(const Row& row) {
  const eval::PinyinResult& r = row.result;
  std::printf(
      "  %-36s first right %5.2f %% [%.1f, %.1f]  among five %5.2f %%  characters %5.2f %%  a key "
      "p50 %.0f us p99 %.0f us\n",
      row.name.c_str(), 100 * r.p_at_1, 100 * r.p_at_1_interval.low, 100 * r.p_at_1_interval.high,
      100 * r.p_at_5, 100 * r.char_accuracy, r.key_us_p50, r.key_us_p99);
  std::fflush(stdout);
}

/// The drivers, and whether each first says who it is.
struct Driver {
  const char* name;
  const char* program;
  bool introduces_itself;
};
constexpr Driver kDrivers[] = {{"libime", "libime_keys", false}, {"librime", "rime_keys", true}};

Result<Row> measure(const Driver& driver, const PeerFolders& folders,
                    const std::vector<eval::NbestSentence>& sentences,
                    const eval::PinyinEvalOptions& how) {
  const Result<std::string> program = peer_program(folders, driver.program);
  if (!program) return program.error();
  Result<PeerProcess> peer = PeerProcess::start({*program});
  if (!peer) return std::move(peer).error();
  std::string name = driver.name;
  if (driver.introduces_itself) {
    const Result<nlohmann::json> who = peer->read();
    if (!who || !who->is_object() || who->contains("missing")) {
      return Error{ErrorCode::Unsupported, "its data is not installed"};
    }
    name = who->value("name", name);
  }
  Result<eval::PinyinResult> result = eval::evaluate_pinyin(
      sentences,
      [&](const std::string& typed, const std::string&) { return ask(*peer, name, typed); }, how);
  if (!result) return std::move(result).error();
  return Row{name, std::move(result).value()};
}

Status add_ours(const EvalText& text, const std::vector<eval::NbestSentence>& sentences,
                const eval::PinyinEvalOptions& how, std::vector<Row>* rows) {
  const auto engine = open_engine(text.model);
  if (!engine) return engine.error();
  auto data = pinyin::load_libime({});
  if (!data) return std::move(data).error();
  const predict::PinyinModel model(**engine, std::move(*data));
  std::vector<std::pair<std::string, eval::PinyinTiers>> tiers{
      {"laya, instant", eval::PinyinTiers::Instant}};
  if ((*engine)->deep() != nullptr) {
    tiers.emplace_back("laya, with " + setup::deep_name(text.model), eval::PinyinTiers::Both);
  }
  for (const auto& [name, tier] : tiers) {
    auto result = eval::evaluate_pinyin(sentences, eval::our_typist(model, tier), how);
    if (!result) return result.error();
    rows->push_back({name, std::move(result).value()});
    if (!text.json) print_row(rows->back());
  }
  return {};
}

}  // namespace

Result<Json> compare_pinyin(const EvalText& text, const PeerFolders& folders,
                            const std::vector<std::string>& only) {
  const Result<std::string> lines = read_text(text.file);
  if (!lines) return lines.error();
  const auto sentences = eval::parse_nbest(*lines);
  if (!sentences) {
    return Error{sentences.error().code, text.file + ": " + sentences.error().message};
  }
  eval::PinyinEvalOptions how;
  how.max_sentences = text.lines;
  how.progress = progress();
  Json json{{"sentences", 0},
            {"systems", Json::array()},
            {"differences", Json::array()},
            {"skipped", Json::array()}};
  const auto skip = [&](const char* name, const Error& error) {
    json["skipped"].push_back({{"name", name}, {"why", error.message}});
    if (!text.json) std::printf("  %s skipped: %s\n", name, error.message.c_str());
  };
  std::vector<Row> theirs;
  for (const Driver& driver : kDrivers) {
    if (!only.empty() && std::find(only.begin(), only.end(), driver.name) == only.end()) continue;
    Result<Row> row = measure(driver, folders, *sentences, how);
    if (!row && row.error().code == ErrorCode::BadArgument) return std::move(row).error();
    if (!row) {
      skip(driver.name, row.error());
      continue;
    }
    theirs.push_back(std::move(row).value());
    if (!text.json) print_row(theirs.back());
  }
  std::vector<Row> ours;
  if (Status status = add_ours(text, *sentences, how, &ours); !status) {
    if (status.error().code != ErrorCode::Unsupported) return status.error();
    skip("laya", status.error());
  }
  for (const std::vector<Row>* rows : {&theirs, &ours}) {
    for (const Row& row : *rows) {
      Json system = Json::parse(eval::to_json(row.result), nullptr, false);
      json["sentences"] = row.result.sentences;
      system["name"] = row.name;
      json["systems"].push_back(system);
    }
  }
  for (const Row& a : ours) {
    for (const Row& b : theirs) {
      Json difference = Json::parse(eval::difference_to_json(a.result, b.result), nullptr, false);
      difference["of"] = a.name;
      difference["beside"] = b.name;
      json["differences"].push_back(difference);
    }
  }
  return json;
}

}  // namespace laya::apps
