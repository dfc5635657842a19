#include "laya-train/train/vocabulary_command.h"

#include <iostream>
#include <memory>
#include <span>

#include "base/atomic_file.h"
#include "setup/data_files.h"
#include "text/tokenizer.h"
#include "train/vocabulary/vocabulary_import.h"

namespace laya::apps {
namespace {

constexpr std::uint64_t kVocabularyBytesLimit = 64u << 20;

struct ImportOptions {
  std::string model;
  std::string out;
};

struct CutOptions {
  std::string vocabulary;
  std::string text;
  bool json = false;
};

void import(const ImportOptions& options, Outcome& outcome) {
  const Result<text::Vocabulary> vocabulary = train::import_sentencepiece(options.model);
  if (!vocabulary) return fail(outcome, vocabulary.error());
  const std::vector<std::byte> blob = vocabulary->serialize();
  if (Status status = base::write_file(options.out, blob); !status) {
    return fail(outcome, status.error());
  }
  std::cout << options.out << ": " << vocabulary->size() << " pieces, " << blob.size() << " bytes"
            << std::endl;
}

Result<text::Tokenizer> open_tokenizer(std::string path) {
  if (path.empty()) {
    Result<std::string> shipped = setup::find_data_file("models/instant/vocabulary.bin");
    if (!shipped) return std::move(shipped).error();
    path = std::move(shipped).value();
  }
  Result<std::string> bytes = base::read_file(path, kVocabularyBytesLimit);
  if (!bytes) return std::move(bytes).error();
  Result<text::Vocabulary> vocabulary = text::Vocabulary::parse(std::as_bytes(std::span(*bytes)));
  if (!vocabulary) {
    return Error{vocabulary.error().code, path + ": " + vocabulary.error().message};
  }
  return text::Tokenizer(std::move(vocabulary).value());
}

void cut(const CutOptions& options, Outcome& outcome) {
  Result<text::Tokenizer> tokenizer = open_tokenizer(options.vocabulary);
  if (!tokenizer) return fail(outcome, tokenizer.error());
  text::Tokens tokens;
  tokenizer->encode(options.text, tokens);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const std::string_view piece = tokenizer->vocabulary().text(tokens.ids[i]);
    if (options.json) {
      list.push_back({{"id", tokens.ids[i]}, {"text", piece}, {"end", tokens.ends[i]}});
    } else {
      std::cout << tokens.ids[i] << '\t' << '"' << base::printable(piece) << '"' << '\n';
    }
  }
  if (options.json) {
    std::cout << to_line(list) << '\n';
  }
  std::cout.flush();
}

}  // namespace

void add_vocabulary_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("vocabulary", "make a vocabulary; see how it cuts a text");
  command->require_subcommand(1);
  command->footer("example: laya vocabulary cut 'unbelievable 我们'");

  auto import_options = std::make_shared<ImportOptions>();
  CLI::App* importing =
      command->add_subcommand("import", "vocabulary.bin from a sentencepiece .model file");
  importing->add_option("model", import_options->model, "the .model file")->required();
  importing->add_option("-o,--out", import_options->out, "file to write")->required();
  importing->footer(
      "example: laya vocabulary import zhen16k.model -o models/instant/vocabulary.bin");
  importing->callback([import_options, &outcome] { import(*import_options, outcome); });

  auto cut_options = std::make_shared<CutOptions>();
  CLI::App* cutting = command->add_subcommand("cut", "the pieces of a text, one a line");
  cutting->add_option("text", cut_options->text, "the text")->required();
  cutting->add_option("--vocabulary", cut_options->vocabulary,
                      "vocabulary.bin (default: the shipped one)");
  cutting->add_flag("--json", cut_options->json, "one JSON array with ids and byte offsets");
  cutting->footer("example: laya vocabulary cut 'I am here' --json");
  cutting->callback([cut_options, &outcome] { cut(*cut_options, outcome); });
}

}  // namespace laya::apps
