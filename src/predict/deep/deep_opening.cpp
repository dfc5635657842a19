#include "predict/deep/deep_opening.h"

#include <algorithm>
#include <string_view>

namespace laya::predict {
namespace {

// English. A model that was tuned to answer questions takes the first words of a message for the
// beginning of a text-book. Keystrokes saved on 85 dev lines, lower case, 3 / 1 slots, mixed:
// SmolLM2-Instruct 43.6 / 34.2 ▶ 44.8 / 35.0 (alone 41.7 / 32.4 ▶ 44.4 / 34.7); after BOS instead
// of a line end it has 42.2 / 32.4. Gemma, a base model taught with BOS, gains nothing.
constexpr std::string_view kEnglish =
    "Thanks for your help, I really appreciate it.\n"
    "i think we should meet tomorrow if that works for you\n"
    "Please let me know what you think about the new plan.\n"
    "The service was great, but the food was not very good.\n"
    "Does anyone know where I can find a good dentist near here?\n"
    "He said that the company will have to make a decision before the end of the year.\n"
    "I have been looking for a new car, and I am not sure which one to buy.\n"
    "Hi John, I will be in the office on Monday. Can you send me the report by then?\n"
    "we had a really good time last night, see you soon!\n"
    "According to the police, two people were killed in the attack on Sunday.\n"
    "If you want to come with us, just call me when you get home.\n"
    "It is one of the best places in the city, and the staff is always friendly.\n";

// Chinese. Gemma, next character, top-1 / top-3 on 2,981 characters of dev messages: alone 23.1 /
// 35.0 ▶ 25.9 / 38.3, mixed 31.4 / 46.1 ▶ 31.5 / 47.0.
constexpr std::string_view kChinese =
    "你在干嘛呢？\n"
    "我刚下课，现在准备去吃饭。\n"
    "好的，那我们明天见。\n"
    "你今天晚上有空吗？\n"
    "不好意思啊，我现在有点忙，等一下再给你打电话。\n"
    "哈哈，没事的，谢谢你。\n"
    "这个我也不太清楚，你问一下老师吧。\n"
    "生日快乐！祝你天天开心！\n";

// A tokeniser that needs more for either does not know the language.
constexpr std::size_t kMostTokens = 240;

}  // namespace

DeepOpenings deep_openings(const text::SubwordTokenizer& tokenizer, const DeepOptions& options,
                           bool knows_han) {
  std::vector<TokenId> plain = options.first;
  if (plain.empty() && tokenizer.add_bos() && tokenizer.bos() != kNoToken) {
    plain.push_back(tokenizer.bos());
  }
  if (plain.empty()) {
    const TokenId newline = tokenizer.find("\n");
    plain.push_back(newline != kNoToken ? newline : 0);
  }
  const auto with = [&](std::string_view lines) {
    std::vector<TokenId> tokens = plain;
    tokenizer.encode(lines, tokens, nullptr, text::TextPosition::Rest);
    return tokens.size() <= kMostTokens ? tokens : plain;
  };
  DeepOpenings openings{plain, plain};
  if (options.prime == DeepOptions::Prime::Always ||
      (options.prime == DeepOptions::Prime::WhereItHelps && !tokenizer.add_bos())) {
    openings.latin = with(kEnglish);
  }
  if (options.prime != DeepOptions::Prime::Never && knows_han) {
    openings.han = with(kChinese);
  }
  return openings;
}

std::uint32_t deep_capacity_tokens(const DeepOptions& options, const DeepOpenings& openings) {
  constexpr std::size_t kLastColumns = 16;
  return static_cast<std::uint32_t>(options.context_tokens * 3 / 2 + kLastColumns +
                                    std::max(openings.latin.size(), openings.han.size()));
}

}  // namespace laya::predict
