// A program for bench/peers/tokenizer_parity.py and for looking at a tokenizer: reads lines, each
// one JSON string, and prints the ids of each on a line.
//   subword_lines tokenizer.json < lines      Hugging Face's file
//   subword_lines parts.json < lines          what a GGUF file says, as the script dumps it
//   … --time < lines                          prints only the time an encode took, in microseconds
//   … --blob > FILE                           writes the blob of a .laya file
//   (fuzz/corpus/subword_blob)
// Each answer has gone through serialize() and parse(); a text that does not come back is an error.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/subword_tokenizer.h"

namespace text = laya::text;

namespace {

laya::Result<text::SubwordTokenizer> from_dump(const nlohmann::json& dump) {
  text::SubwordParts parts;
  if (laya::Status status =
          text::set_gguf_tokenizer(dump.value("model", ""), dump.value("pre", ""), parts.options);
      !status) {
    return std::move(status).error();
  }
  parts.tokens = dump.at("tokens").get<std::vector<std::string>>();
  for (const int role : dump.at("token_type")) {
    parts.roles.push_back(static_cast<text::PieceRole>(role));
  }
  parts.scores = dump.value("scores", std::vector<float>());
  parts.merges = dump.value("merges", std::vector<std::string>());
  if (parts.options.kind == text::SubwordKind::Sentencepiece &&
      dump.value("add_space_prefix", true)) {
    parts.options.prefix_space = text::PrefixSpace::Always;
  }
  return text::SubwordTokenizer::from_parts(parts);
}

laya::Result<text::SubwordTokenizer> load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const nlohmann::json file = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  auto made = file.is_object() && file.contains("token_type")
                  ? from_dump(file)
                  : text::SubwordTokenizer::from_tokenizer_json(bytes);
  return made ? text::SubwordTokenizer::parse(made->serialize()) : std::move(made);
}

/// Microseconds of one encode of each line, the best of five rounds; printed per line and per byte.
void print_time(const text::SubwordTokenizer& tokenizer, const std::vector<std::string>& lines) {
  text::SubwordScratch scratch;
  std::vector<laya::TokenId> ids;
  std::vector<std::uint32_t> ends;
  double best = 1e300;
  std::size_t bytes = 0;
  for (int round = 0; round < 5; ++round) {
    bytes = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& line : lines) {
      ids.clear();
      ends.clear();
      tokenizer.encode(line, ids, &ends, text::TextPosition::Start, &scratch);
      bytes += line.size();
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::cout << best / static_cast<double>(std::max<std::size_t>(lines.size(), 1)) << " us a line, "
            << best / static_cast<double>(std::max<std::size_t>(bytes, 1)) * 128
            << " us for 128 bytes\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: subword_lines tokenizer.json|parts.json [--time|--blob] < lines\n";
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto tokenizer = load(argv[1]);
  if (!tokenizer) {
    std::cerr << tokenizer.error().message << "\n";
    return 1;
  }
  if (argc > 2 && std::string(argv[2]) == "--blob") {
    const auto blob = tokenizer->serialize();
    std::cout.write(reinterpret_cast<const char*>(blob.data()),
                    static_cast<std::streamsize>(blob.size()));
    return 0;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(nlohmann::json::parse(line).get<std::string>());
  }
  if (argc > 2) {
    const std::chrono::duration<double, std::milli> loading =
        std::chrono::steady_clock::now() - start;
    const auto blob = tokenizer->serialize();
    const auto before = std::chrono::steady_clock::now();
    const auto again = text::SubwordTokenizer::parse(blob);
    const std::chrono::duration<double, std::milli> parsing =
        std::chrono::steady_clock::now() - before;
    std::cout << tokenizer->size() << " tokens; blob " << blob.size() << " bytes, parsed in "
              << parsing.count() << " ms; the file itself in " << loading.count() << " ms\n";
    print_time(*again, lines);
    return 0;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto ids = tokenizer->encode(lines[i]);
    if (tokenizer->decode(ids) != tokenizer->normalized(lines[i])) {
      std::cerr << "line " << i + 1 << " does not come back\n";
      return 1;
    }
    for (std::size_t k = 0; k < ids.size(); ++k) {
      std::cout << (k > 0 ? " " : "") << ids[k];
    }
    std::cout << "\n";
  }
  return 0;
}
