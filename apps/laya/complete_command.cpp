#include "laya/complete_command.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/clock.h"
#include "common/model_options.h"
#include "laya/complete_pinyin.h"
#include "predict/session/session.h"
#include "setup/remote_answers.h"
#include "setup/settings.h"

namespace laya::apps {
namespace {

struct CompleteOptions {
  setup::ModelOptions model;
  std::string context;
  std::string context_file;
  std::string after;
  std::string pinyin;
  std::size_t count = 5;
  bool no_warm_up = false;
  bool remote = false;
  bool json = false;
};

/// What the completion server said; all empty where it was not asked.
struct RemoteAnswer {
  std::string name;
  std::string problem;
  double latency_us = 0;
  std::vector<setup::RemoteCandidate> candidates;
};

/// What the instant tier took; all there is without a decoder.
struct InstantTier {
  double latency_us = 0;
};

nlohmann::ordered_json to_json(const predict::Reply& reply, const InstantTier& instant,
                               const std::string& deep, const RemoteAnswer& remote) {
  nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
  for (const predict::Candidate& candidate : reply.candidates) {
    candidates.push_back({{"text", candidate.text},
                          {"insert", candidate.insert},
                          {"erase_before", candidate.erase_before},
                          {"logprob", candidate.log_prob},
                          {"source", predict::origin_name(candidate.origin)},
                          {"tier", predict::tier_name(reply.tier)}});
  }
  for (const setup::RemoteCandidate& candidate : remote.candidates) {
    candidates.push_back({{"text", candidate.text},
                          {"insert", candidate.insert},
                          {"erase_before", 0},
                          {"logprob", nullptr},
                          {"source", predict::origin_name(setup::RemoteCandidate::kOrigin)},
                          {"tier", predict::tier_name(setup::RemoteCandidate::kTier)}});
  }
  nlohmann::ordered_json ghost = nullptr;
  if (reply.has_ghost) {
    ghost = {{"text", reply.ghost.text}, {"logprob", reply.ghost.log_prob}};
  }
  nlohmann::ordered_json second = nullptr;
  if (!deep.empty()) {
    second = {{"model", deep},
              {"latency_us", reply.latency.deep_us},
              {"passes", reply.deep_passes},
              {"ghost_verified", reply.ghost_tier == predict::Tier::Deep}};
  }
  nlohmann::ordered_json third = nullptr;
  if (!remote.name.empty()) {
    third = {{"server", remote.name},
             {"latency_us", remote.latency_us},
             {"candidates", remote.candidates.size()},
             {"problem", nullptr}};
    if (!remote.problem.empty()) third["problem"] = remote.problem;
  }
  return {{"candidates", candidates},
          {"ghost", ghost},
          {"latency_us", reply.latency.total_us},
          {"tier", predict::tier_name(reply.tier)},
          {"instant", {{"latency_us", instant.latency_us}}},
          {"deep", second},
          {"remote", third}};
}

void print(const predict::Reply& reply, const InstantTier& instant, const std::string& deep,
           const RemoteAnswer& remote) {
  std::size_t number = 0;
  for (const predict::Candidate& candidate : reply.candidates) {
    std::printf("%zu  %s  (%.2f, %s)\n", ++number, base::printable(candidate.text).c_str(),
                candidate.log_prob, predict::origin_name(candidate.origin));
  }
  for (const setup::RemoteCandidate& candidate : remote.candidates) {
    std::printf("%zu  %s  (%s)\n", ++number, base::printable(candidate.text).c_str(),
                predict::origin_name(setup::RemoteCandidate::kOrigin));
  }
  if (reply.has_ghost) {
    std::printf("ghost: \"%s\"  (%.2f)\n", base::printable(reply.ghost.text).c_str(),
                reply.ghost.log_prob);
  }
  if (number == 0 && !reply.has_ghost) {
    std::printf("nothing to offer here (%s)\n", predict::silence_name(reply.silence));
  }
  if (deep.empty()) {
    std::printf("%.2f ms\n", instant.latency_us / 1000);
  } else {
    std::printf("instant %.2f ms; %s %.2f ms, %u passes\n", instant.latency_us / 1000, deep.c_str(),
                static_cast<double>(reply.latency.deep_us) / 1000,
                static_cast<unsigned>(reply.deep_passes));
  }
  if (!remote.name.empty()) {
    std::printf("%s: %s\n", base::printable(remote.name).c_str(),
                remote.problem.empty()
                    ? (std::to_string(static_cast<long>(remote.latency_us / 1000)) + " ms").c_str()
                    : base::printable(remote.problem).c_str());
  }
}

/// The server that laya.toml names; BadArgument with the remedy where it names none.
Result<std::unique_ptr<setup::RemoteAnswers>> open_remote(const predict::Engine& engine,
                                                          RemoteAnswer& answer) {
  const Result<setup::RemoteSetup> setup = setup::read_remote_setup();
  if (!setup) return setup.error();
  if (!setup->is_on) {
    return Error{ErrorCode::BadArgument,
                 "--remote: no completion server is configured; write its address into " +
                     setup::settings_path() +
                     ":  [remote]  url = \"http://127.0.0.1:11434/v1/completions\"  model = \"…\""};
  }
  answer.name = setup->name;
  remote::RemoteSettings client = setup->client;
  client.pause = std::chrono::milliseconds(0);  // there is no next key
  return setup::RemoteAnswers::create(client, engine.block_list());
}

void complete(const CompleteOptions& options, Outcome& outcome) {
  std::string context = options.context;
  if (!options.context_file.empty()) {
    Result<std::string> text = read_text(options.context_file);
    if (!text) return fail(outcome, text.error());
    context = std::move(text).value();
  }
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  if (!options.pinyin.empty()) {
    const std::string deep = (*engine)->deep() != nullptr ? setup::deep_name(options.model) : "";
    return complete_pinyin(**engine, {options.pinyin, context, options.count, deep, options.json},
                           outcome);
  }

  RemoteAnswer answer;
  std::unique_ptr<setup::RemoteAnswers> remote;
  if (options.remote) {
    auto opened = open_remote(**engine, answer);
    if (!opened) return fail(outcome, opened.error());
    remote = std::move(opened).value();
  }

  predict::Session session(**engine);
  if (!options.no_warm_up) {
    session.warm_up();  // so that latency_us tells what a key costs, not what a cold start costs
  }
  predict::FieldText field;
  field.before = context;
  field.after = options.after;
  session.set_text(field);
  predict::DecideOptions wanted;
  wanted.candidates = options.count;
  wanted.deep = predict::Want::No;
  const predict::Reply* reply = &session.decide(wanted);
  const InstantTier instant{static_cast<double>(reply->latency.total_us)};
  const std::string deep = (*engine)->deep() != nullptr ? setup::deep_name(options.model) : "";
  if (!deep.empty()) {
    wanted.deep = predict::Want::Yes;
    wanted.deep_wait_us = predict::kUntilDone;
    reply = &session.decide(wanted);
  }
  if (remote != nullptr) {
    const std::int64_t asked = base::monotonic_ns();
    remote->ask(session);
    constexpr std::int64_t kLongestMs = 90'000;  // the client's own limit ends it before
    if (!remote->asked()) {
      answer.problem = "was not asked: nothing can go on here";
    } else if (!remote->take(field.revision, kLongestMs, &answer.candidates)) {
      answer.problem = remote->last_error();
    }
    answer.latency_us = static_cast<double>(base::monotonic_ns() - asked) / 1000;
  }
  if (options.json) {
    std::cout << to_line(to_json(*reply, instant, deep, answer)) << std::endl;
  } else {
    print(*reply, instant, deep, answer);
  }
}

}  // namespace

void add_complete_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CompleteOptions>();  // shared: CLI11 copies the callback
  CLI::App* command =
      app.add_subcommand("complete", "candidates and ghost for one place in a text");
  CLI::Option* context = command->add_option("-c,--context", options->context,
                                             "the text left of the caret; may be empty");
  command
      ->add_option("--context-file", options->context_file,
                   "the same from a file; - is standard input (for long texts)")
      ->excludes(context);
  command->add_option("--after", options->after, "the text right of the caret");
  command->add_option("--pinyin", options->pinyin,
                      "what these letters spell behind the context: pinyin, initials, capitals");
  command->add_option("-n,--count", options->count, "how many candidates")
      ->check(CLI::Range(std::size_t{0}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  command->add_flag("--no-warm-up", options->no_warm_up, "answer from a cold start");
  command->add_flag("--remote", options->remote,
                    "ask the completion server that laya.toml names, too ([remote] url)");
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "With a pretrained model (laya model list) the list is that of both tiers; the latency of "
      "each "
      "is told.\n"
      "example: laya complete --context 'see you tom' -n 3\n"
      "         laya complete --context '我们明天' --json | jq -r '.candidates[].text'\n"
      "         laya complete --pinyin womenmingtian\n"
      "         laya complete --context-file draft.txt --after ' and so on'");
  command->callback([options, context, command, &outcome] {
    if (context->count() == 0 && options->pinyin.empty() &&
        command->get_option("--context-file")->count() == 0) {
      return fail_usage(outcome,
                        "complete needs --context TEXT or --context-file FILE; --context '' asks "
                        "at an empty field");
    }
    complete(*options, outcome);
  });
}

}  // namespace laya::apps
