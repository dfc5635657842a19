// TypedText: the text around the caret as prediction sees it. What is being typed, what stands
// before it, what follows.
//
// Kept: the last kKeptBytes…2·kKeptBytes bytes left of the caret and a little right of it, whatever
// the field holds. No allocation after construction. Works on any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "predict/source/field_names.h"

namespace laya::predict {

class TypedText {
 public:
  TypedText();

  void clear();

  /// What an edit did to the bytes left of the caret: `erased` and then `inserted` bytes at their
  /// end; `dropped` bytes went at the front afterwards.
  struct Delta {
    std::size_t erased = 0;
    std::size_t inserted = 0;
    std::size_t dropped = 0;
  };

  /// What became of a text that was `seen` (its front at place `seen_cut` of the field), so that it
  /// is this one now: common front kept. Nothing: all zero.
  Delta change_since(std::string_view seen, std::uint64_t seen_cut) const;

  /// Replaces everything. The delta tells how the kept text changed (common front kept), so that
  /// models need not start again.
  Delta assign(std::string_view before, std::string_view after, LeftEdge left_edge);
  /// True if the kept text holds so many bytes.
  bool can_erase(std::size_t before, std::size_t after) const;
  Delta apply(std::size_t erase_before, std::size_t erase_after, std::string_view insert);
  /// The space that is owed is part of the text as long as it is owed.
  Delta owe_space(PendingSpace pending);
  bool owes_space() const { return owed_; }

  std::string_view before() const { return before_; }
  std::string_view after() const { return after_; }
  /// Bytes of the field left of before(): places in the field are cut_bytes() + an offset.
  std::uint64_t cut_bytes() const { return cut_bytes_; }
  /// The kept text begins where the field begins.
  bool starts_field() const { return starts_field_; }

  /// The word being typed: the trailing run of Latin letters and inner (or last) apostrophes; empty
  /// after anything else.
  std::string_view open_word() const;
  /// The letters right of the caret that belong to the same word; empty if the caret is not inside
  /// or before one.
  std::string_view rest_of_word() const;
  /// The first word right of the caret, blanks skipped, on the same line; empty without.
  std::string_view next_word_after() const;
  /// The text ends inside a UTF-8 sequence.
  bool ends_in_half_character() const;
  /// The run that the open word is the end of looks like an address, a path or code: foo@ba,
  /// www.exa, a_b. Nothing is offered there.
  bool in_address() const;
  /// The text ends in an ASCII punctuation mark that a space follows when people go on, or in a
  /// digit, and the space is not there yet.
  bool needs_space() const;
  /// The text before the open word has Latin letters and no capital among them: its writer uses
  /// none, so a small letter says nothing about the word.
  bool writes_without_capitals() const;
  /// A new sentence begins before the open word, and the left context is known (complaint 10: not
  /// after "e.g." or "3.").
  bool at_sentence_start() const;

 private:
  std::size_t trim();

  std::string before_;
  std::string after_;
  std::uint64_t cut_bytes_ = 0;  // bytes of the field left of before_
  bool starts_field_ = true;
  bool known_left_ = true;
  bool owed_ = false;
};

}  // namespace laya::predict
