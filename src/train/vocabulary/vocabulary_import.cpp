#include "train/vocabulary/vocabulary_import.h"

#include <sentencepiece_processor.h>

#include <vector>

namespace laya::train {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, sentencepiece's visible space

std::string with_spaces(std::string_view piece) {
  std::string text;
  for (std::size_t at; (at = piece.find(kSpaceMark)) != std::string_view::npos;) {
    text += piece.substr(0, at);
    text += ' ';
    piece.remove_prefix(at + kSpaceMark.size());
  }
  text += piece;
  return text;
}

}  // namespace

Result<text::Vocabulary> import_sentencepiece(const std::string& path) {
  sentencepiece::SentencePieceProcessor processor;
  if (const auto status = processor.Load(path); !status.ok()) {
    return Error{ErrorCode::Corrupt, path + ": is no sentencepiece model that can be read"};
  }
  const int bytes_found = processor.PieceToId("<0x00>");
  if (processor.bos_id() < 0 || processor.eos_id() < 0 || !processor.IsByte(bytes_found)) {
    return Error{ErrorCode::Unsupported,
                 path + ": needs <s>, </s> and byte pieces; train it with --byte_fallback"};
  }
  std::vector<text::Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(processor.GetPieceSize()));
  unsigned next_byte = 0;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    const std::string& name = processor.IdToPiece(id);
    if (processor.IsUnknown(id)) {
      pieces.push_back({"", 0, text::PieceType::Unknown});
    } else if (id == processor.bos_id()) {
      pieces.push_back({"", 0, text::PieceType::Begin});
    } else if (id == processor.eos_id()) {
      pieces.push_back({"\n", 0, text::PieceType::Newline});
    } else if (processor.IsByte(id)) {
      // sentencepiece lists them in order, <0x00> to <0xFF>; Vocabulary::create checks that all are
      // there.
      pieces.push_back(
          {std::string(1, static_cast<char>(next_byte++ & 0xFF)), 0, text::PieceType::Byte});
    } else if (processor.IsControl(id) || processor.IsUnused(id)) {
      return Error{ErrorCode::Unsupported,
                   path + ": piece " + std::to_string(id) + " is of a type that Laya does not use"};
    } else if (processor.GetScore(id) == 0) {
      pieces.push_back({with_spaces(name), 0, text::PieceType::Symbol});  // user-defined: score 0
    } else {
      pieces.push_back({with_spaces(name), processor.GetScore(id), text::PieceType::Normal});
    }
  }
  return text::Vocabulary::create(pieces);
}

}  // namespace laya::train
