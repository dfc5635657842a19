// Texts to measure on: lines, and the words that a line is typed in.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace laya::eval {

/// Called now and then with lines done and lines in all; return value ignored. May be empty.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// The lines of plain UTF-8 text (no trailing '\r'), blank ones left out.
std::vector<std::string> text_lines(std::string_view text);

/// The first lines that are not blank, at most `max_lines` (0: all). Views into `lines`.
std::vector<std::string_view> chosen_lines(const std::vector<std::string>& lines,
                                           std::size_t max_lines);

/// A line cut at white space, as Python's str.split() does. Views into `line`.
std::vector<std::string_view> words_of(std::string_view line);

/// `text` in lower case.
std::string lowered(std::string_view text);

}  // namespace laya::eval
