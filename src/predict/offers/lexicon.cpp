#include "predict/offers/lexicon.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_reader.h"
#include "model/core/blob_file.h"
#include "predict/source/casing.h"

namespace laya::predict {
namespace {

constexpr std::size_t kHeapEntries = 1024;  // of complete(): 16 KB on the stack

Error corrupt(std::string_view name, const std::string& what) {
  return {ErrorCode::Corrupt, std::string(name) + ": lexicon." + what};
}

// The blob as `count` values of T; an error where it has another size.
template <typename T>
Status view(const LexiconBlobs& blobs, std::string_view file, const std::string& name,
            std::size_t count, std::span<const T>* out) {
  const std::span<const std::byte> bytes = blobs("lexicon." + name);
  if (bytes.size() / sizeof(T) != count || bytes.size() % sizeof(T) != 0) {
    return corrupt(file, name + " has " + std::to_string(bytes.size()) +
                             " bytes; the header asks for " + std::to_string(count * sizeof(T)));
  }
  *out = {reinterpret_cast<const T*>(bytes.data()), count};
  return {};
}

// One entry of complete()'s queue: a node still to be looked into, or a word that was found.
struct Entry {
  std::uint16_t parent;  // entry that led here; its own index at the top
  std::uint8_t code;     // least code at or below; of the word itself
  std::uint8_t label;
  bool is_word;
  Lexicon::Node node;
};

}  // namespace

Result<std::shared_ptr<const Lexicon>> Lexicon::open(const std::string& path) {
  auto file = model::BlobFile::open(path);
  if (!file) {
    return file.error();
  }
  const auto kept = std::make_shared<const model::BlobFile>(std::move(*file));
  auto lexicon = from_blobs([&](std::string_view name) { return kept->blob(name); }, path);
  if (!lexicon) {
    return lexicon.error();
  }
  lexicon->file_ = kept;
  return std::make_shared<const Lexicon>(std::move(*lexicon));
}

Result<Lexicon> Lexicon::from_blobs(const LexiconBlobs& blobs, std::string_view name) {
  Lexicon lexicon;
  LexiconHeader& header = lexicon.header_;
  const std::span<const std::byte> head = blobs("lexicon.header");
  if (head.size() != sizeof(header)) {
    return corrupt(name, "header has " + std::to_string(head.size()) + " bytes, not " +
                             std::to_string(sizeof(header)) + "; is it a lexicon?");
  }
  std::memcpy(&header, head.data(), sizeof(header));
  if (header.magic != kLexiconMagic) {
    return corrupt(name, "header does not begin with LAYALEXI");
  }
  if (header.version != kLexiconVersion) {
    return Error{ErrorCode::Version, std::string(name) + ": lexicon.header has version " +
                                         std::to_string(header.version) + "; this build reads " +
                                         std::to_string(kLexiconVersion)};
  }
  if (header.node_count == 0 || header.node_count > kLexiconMaxNodes ||
      header.word_count > header.node_count || header.written_count > header.word_count) {
    return corrupt(name, "header counts " + std::to_string(header.node_count) + " nodes, " +
                             std::to_string(header.word_count) + " words; at most " +
                             std::to_string(kLexiconMaxNodes));
  }
  if (!(header.code_step > 0 && header.code_step < 1 && header.log_unknown <= 0 &&
        header.log_unknown > -100)) {
    return corrupt(name, "header has a step or a share out of range");
  }
  const std::size_t nodes = header.node_count;
  const std::size_t words = header.word_count;
  for (const Status& status : {
           view(blobs, name, "labels", nodes, &lexicon.labels_),
           view(blobs, name, "best", nodes, &lexicon.best_),
           view(blobs, name, "blocks", (nodes + kLexiconBlockNodes - 1) / kLexiconBlockNodes,
                &lexicon.blocks_),
           view(blobs, name, "codes", words, &lexicon.codes_),
           view(blobs, name, "forms", words, &lexicon.forms_),
           view(blobs, name, "written", header.written_count, &lexicon.written_),
           view(blobs, name, "written_offsets", header.written_count + std::size_t{1},
                &lexicon.written_offsets_),
           view(blobs, name, "letters", kLetterKinds * kLetterKinds * kLetterKinds,
                &lexicon.letters_),
       }) {
    if (!status) {
      return status.error();
    }
  }
  const std::span<const std::byte> text = blobs("lexicon.written_text");
  lexicon.written_text_ = {reinterpret_cast<const char*>(text.data()), text.size()};
  return lexicon;
}

Lexicon::Node Lexicon::first_child(Node node) const {
  const LexiconBlock& mine = block(node);
  if (!bit(mine.parent, node)) {
    return kNoNode;
  }
  // The children of the block's parents follow each other; each family ends with a `last` bit.
  auto families =
      static_cast<unsigned>(std::popcount(mine.parent & ((std::uint64_t{1} << (node & 63)) - 1)));
  Node child = mine.first_child;
  if (families > 0) {
    std::size_t index = child / kLexiconBlockNodes;
    if (index >= blocks_.size()) {
      return kNoNode;
    }
    std::uint64_t bits = blocks_[index].last & (~std::uint64_t{0} << (child & 63));
    for (;;) {
      const auto here = static_cast<unsigned>(std::popcount(bits));
      if (here >= families) {
        break;
      }
      families -= here;
      if (++index == blocks_.size()) {
        return kNoNode;
      }
      bits = blocks_[index].last;
    }
    for (; families > 1; --families) {
      bits &= bits - 1;
    }
    child = static_cast<Node>(index * kLexiconBlockNodes) +
            static_cast<Node>(std::countr_zero(bits)) + 1;
  }
  // In a hostile file a child may stand before its parent; walking must end.
  return child > node && child < header_.node_count ? child : kNoNode;
}

Lexicon::Node Lexicon::next_sibling(Node node) const {
  return is_last(node) || node + 1 >= header_.node_count ? kNoNode : node + 1;
}

Lexicon::Node Lexicon::child(Node node, std::uint8_t byte) const {
  for (Node at = first_child(node); at != kNoNode; at = next_sibling(at)) {
    if (labels_[at] >= byte) {
      return labels_[at] == byte ? at : kNoNode;
    }
  }
  return kNoNode;
}

Lexicon::Node Lexicon::walk(Node node, std::string_view bytes) const {
  for (std::size_t i = 0; i < bytes.size() && node != kNoNode; ++i) {
    node = child(node, static_cast<std::uint8_t>(bytes[i]));
  }
  return node;
}

std::uint32_t Lexicon::word_at(Node node) const {
  const LexiconBlock& mine = block(node);
  if (!bit(mine.word, node)) {
    return kNoWord;
  }
  const std::uint32_t word =
      mine.first_word + static_cast<std::uint32_t>(
                            std::popcount(mine.word & ((std::uint64_t{1} << (node & 63)) - 1)));
  return word < header_.word_count ? word : kNoWord;
}

std::uint32_t Lexicon::find(std::string_view lower) const {
  if (lower.empty()) {
    return kNoWord;
  }
  const Node node = walk(kRoot, lower);
  return node == kNoNode ? kNoWord : word_at(node);
}

bool Lexicon::is_word(std::string_view lower) const {
  if (find(lower) != kNoWord) {
    return true;
  }
  for (const std::string_view ending : {"'s", "'", "'d", "'ll", "'ve", "'re"}) {
    if (lower.size() > ending.size() + 1 && lower.ends_with(ending)) {
      const std::string_view stem = lower.substr(0, lower.size() - ending.size());
      if ((ending != "'" || stem.ends_with('s') || stem.ends_with("in")) && find(stem) != kNoWord) {
        return true;
      }
    }
  }
  return false;
}

float Lexicon::log_prob(std::uint32_t word) const {
  return -header_.code_step * static_cast<float>(codes_[word]);
}

bool Lexicon::is_silent(std::uint32_t word) const { return (forms_[word] & kLexiconSilent) != 0; }

float Lexicon::log_spelling(std::string_view lower) const {
  std::size_t a = kLetterEdge;
  std::size_t b = kLetterEdge;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i <= lower.size(); ++i) {
    const std::size_t c =
        i < lower.size() ? letter_kind(static_cast<unsigned char>(lower[i])) : kLetterEdge;
    sum += letters_[letter_index(a, b, c)];
    a = b;
    b = c;
  }
  return -kLetterStep * static_cast<float>(sum);
}

std::size_t Lexicon::write_form(std::uint32_t word, std::string_view lower,
                                std::span<char> out) const {
  switch (form(word)) {
    case LexiconForm::Written: {
      const auto at = std::lower_bound(written_.begin(), written_.end(), word);
      if (at == written_.end() || *at != word) {
        break;  // a damaged file: as it is spelt
      }
      const auto index = static_cast<std::size_t>(at - written_.begin());
      const std::uint32_t begin = written_offsets_[index];
      const std::uint32_t end = written_offsets_[index + 1];
      if (begin > end || end > written_text_.size() || end - begin != lower.size()) {
        break;
      }
      lower = std::string_view(written_text_.data() + begin, end - begin);
      break;
    }
    case LexiconForm::Title:
      return write_rest({}, lower, SentenceStart::Yes, out) == lower.size() ? lower.size() : 0;
    case LexiconForm::Upper: {
      if (lower.size() > out.size()) {
        return 0;
      }
      std::transform(lower.begin(), lower.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
      return lower.size();
    }
    case LexiconForm::Lower:
      break;
  }
  if (lower.size() > out.size()) {
    return 0;
  }
  std::copy(lower.begin(), lower.end(), out.begin());
  return lower.size();
}

std::size_t Lexicon::complete(std::string_view prefix, std::span<Completion> out) const {
  const Node top = walk(kRoot, prefix);
  if (top == kNoNode || prefix.size() >= kLexiconMaxWordBytes) {
    return 0;
  }
  std::array<Entry, kHeapEntries> entries;
  std::array<std::uint16_t, kHeapEntries> heap;
  std::size_t made = 0;
  std::size_t waiting = 0;
  const auto later = [&](std::uint16_t a, std::uint16_t b) {  // best first, then in order made
    return entries[a].code != entries[b].code ? entries[a].code > entries[b].code : a > b;
  };
  const auto push = [&](std::uint16_t parent, std::uint8_t code, bool is_word, Node node) {
    if (made < kHeapEntries && code != 255) {
      const auto index = static_cast<std::uint16_t>(made++);
      entries[index] = {parent, code, labels_[node], is_word, node};
      heap[waiting++] = index;
      std::push_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(waiting), later);
    }
  };
  push(0, best_[top], false, top);
  std::size_t count = 0;
  while (waiting > 0 && count < out.size()) {
    std::pop_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(waiting), later);
    const std::uint16_t index = heap[--waiting];
    const Entry entry = entries[index];
    if (entry.is_word) {
      // Spell it backwards, from its node to the top.
      Completion& found = out[count];
      std::array<char, kLexiconMaxWordBytes> backwards;
      std::size_t length = 0;
      for (std::uint16_t at = entry.parent; at != 0 && length < backwards.size();
           at = entries[at].parent) {
        backwards[length++] = static_cast<char>(entries[at].label);
      }
      if (length == 0 || prefix.size() + length > found.bytes.size()) {
        continue;  // the prefix itself
      }
      std::copy(prefix.begin(), prefix.end(), found.bytes.begin());
      std::reverse_copy(backwards.begin(), backwards.begin() + static_cast<std::ptrdiff_t>(length),
                        found.bytes.begin() + static_cast<std::ptrdiff_t>(prefix.size()));
      found.length = static_cast<std::uint8_t>(prefix.size() + length);
      found.word = word_at(entry.node);
      found.log_prob = log_prob(found.word);
      ++count;
      continue;
    }
    const std::uint32_t word = word_at(entry.node);
    if (word != kNoWord && !is_silent(word)) {
      push(index, codes_[word], true, entry.node);
    }
    for (Node at = first_child(entry.node); at != kNoNode; at = next_sibling(at)) {
      push(index, best_[at], false, at);
    }
  }
  return count;
}

}  // namespace laya::predict
