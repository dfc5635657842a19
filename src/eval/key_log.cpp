#include "eval/key_log.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "base/utf8_boundary.h"

namespace laya::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 12> kSlipNames{
    "none",      "neighbour", "extra", "omitted",     "swapped",    "doubled",
    "undoubled", "shift",     "space", "early-space", "apostrophe", "reworded"};
constexpr std::array<const char*, 3> kPickNames{"list", "ghost", "ghost-word"};

void append_line(const Json& json, std::string* out) {
  *out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  *out += '\n';
}

Json start_of(const char* kind, std::uint64_t t_ms) {
  return {{"v", kKeyLogVersion}, {"kind", kind}, {"t_ms", t_ms}};
}

Json json_of(const KeyEvent& event) {
  Json json;
  switch (event.kind) {
    case KeyEventKind::Key:
      json = start_of("key", event.t_ms);
      json["text"] = event.text;
      break;
    case KeyEventKind::Erase:
      json = start_of("erase", event.t_ms);
      json["before"] = event.erase_before;
      if (event.erase_after != 0) json["after"] = event.erase_after;
      break;
    case KeyEventKind::Caret:
      json = start_of("caret", event.t_ms);
      json["at"] = event.caret;
      break;
    case KeyEventKind::Pick:
      json = start_of("pick", event.t_ms);
      json["from"] = pick_name(event.from);
      if (event.from == PickFrom::List) json["rank"] = event.rank;
      if (event.erase_before != 0) json["erase"] = event.erase_before;
      json["text"] = event.text;
      if (!event.offers.empty()) json["offers"] = event.offers;
      break;
  }
  if (event.done) json["done"] = *event.done;
  if (event.slip != SlipKind::None) json["slip"] = slip_name(event.slip);
  return json;
}

bool on_boundary(std::string_view text, std::size_t offset) {
  return offset == text.size() || (offset < text.size() && !base::is_continuation(text[offset]));
}

/// The fields of one line. The first complaint stays; values are defaults after one.
class Line {
 public:
  explicit Line(const Json& json) : json_(json) {}

  std::uint64_t number(const char* key, std::uint64_t limit, std::uint64_t otherwise) {
    const auto found = json_.find(key);
    if (found == json_.end()) return otherwise;
    if (!found->is_number_unsigned()) {
      complain(std::string(key) + " is no whole number from 0");
      return otherwise;
    }
    const auto value = found->get<std::uint64_t>();
    if (value > limit) {
      complain(std::string(key) + " is more than " + std::to_string(limit));
      return otherwise;
    }
    return value;
  }

  std::string string(const char* key) {
    const auto found = json_.find(key);
    return found == json_.end() ? std::string() : text_of(*found, key);
  }

  std::vector<std::string> strings(const char* key) {
    std::vector<std::string> list;
    const auto found = json_.find(key);
    if (found == json_.end()) return list;
    if (!found->is_array() || found->size() > kMaxOffers) {
      complain(std::string(key) + " is no list of at most " + std::to_string(kMaxOffers) +
               " strings");
      return list;
    }
    for (const Json& entry : *found) list.push_back(text_of(entry, key));
    return list;
  }

  void require(const char* key) {
    if (!has(key)) complain(std::string("without ") + key);
  }
  bool has(const char* key) const { return json_.contains(key); }
  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }
  const std::string& complaint() const { return complaint_; }

 private:
  std::string text_of(const Json& value, const char* key) {
    if (!value.is_string()) {
      complain(std::string(key) + " is no string");
      return {};
    }
    auto text = value.get<std::string>();
    if (text.size() > kMaxKeyText) {
      complain(std::string(key) + " is longer than " + std::to_string(kMaxKeyText) + " bytes");
      return {};
    }
    return text;
  }

  const Json& json_;
  std::string complaint_;
};

/// The place of `name` in `names`; complains when there is none.
template <std::size_t N>
std::size_t choice(Line& line, const char* key, const std::array<const char*, N>& names) {
  const std::string name = line.string(key);
  if (name.empty()) return 0;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    line.complain(std::string(key) + " is none of those that KEYLOG.md lists");
    return 0;
  }
  return static_cast<std::size_t>(found - names.begin());
}

KeyEvent event_of(Line& line, KeyEventKind kind, std::uint64_t t_ms) {
  KeyEvent event;
  event.kind = kind;
  event.t_ms = t_ms;
  switch (kind) {
    case KeyEventKind::Key:
      line.require("text");
      event.text = line.string("text");
      event.slip = static_cast<SlipKind>(choice(line, "slip", kSlipNames));
      break;
    case KeyEventKind::Erase:
      line.require("before");
      event.erase_before = static_cast<std::uint32_t>(line.number("before", kMaxKeyLogLine, 0));
      event.erase_after = static_cast<std::uint32_t>(line.number("after", kMaxKeyLogLine, 0));
      break;
    case KeyEventKind::Caret:
      line.require("at");
      event.caret = line.number("at", 1ULL << 32U, 0);
      break;
    case KeyEventKind::Pick:
      line.require("text");
      line.require("from");
      event.from = static_cast<PickFrom>(choice(line, "from", kPickNames));
      event.rank = static_cast<std::uint32_t>(line.number("rank", kMaxOffers, 0));
      event.erase_before = static_cast<std::uint32_t>(line.number("erase", kMaxKeyLogLine, 0));
      event.text = line.string("text");
      event.offers = line.strings("offers");
      break;
  }
  if (line.has("done")) event.done = line.number("done", 1ULL << 32U, 0);
  return event;
}

/// Reads line by line; what has been read is whole at any time.
class LogReader {
 public:
  Status read(std::string_view text);
  std::vector<KeySession> take() { return std::move(sessions_); }

 private:
  Status begin(Line& line);
  Status add(Line& line, KeyEventKind kind, std::uint64_t t_ms);

  std::vector<KeySession> sessions_;
  std::optional<PlayedField> field_;  // of the session that is open
};

Error corrupt(std::string what) { return {ErrorCode::Corrupt, std::move(what)}; }

Status LogReader::begin(Line& line) {
  KeySession session;
  constexpr std::array<const char*, 2> kTypists{"simulated", "person"};
  line.require("typist");
  session.typist = static_cast<TypistKind>(choice(line, "typist", kTypists));
  session.seed = line.number("seed", ~0ULL, 0);
  session.before = line.string("before");
  session.after = line.string("after");
  session.meant = line.string("meant");
  const std::string field = line.string("field");
  if (!field.empty() && field != "text") {
    line.complain("field is not \"text\"; nothing else may be recorded");
  }
  if (!line.complaint().empty()) return corrupt(line.complaint());
  field_.emplace(session);
  sessions_.push_back(std::move(session));
  return {};
}

Status LogReader::add(Line& line, KeyEventKind kind, std::uint64_t t_ms) {
  KeyEvent event = event_of(line, kind, t_ms);
  if (!line.complaint().empty()) return corrupt(line.complaint());
  KeySession& session = sessions_.back();
  if (session.typist == TypistKind::Simulated && event.done.value_or(0) > session.meant.size()) {
    return corrupt("done is beyond what was meant");
  }
  if (Status status = field_->apply(event); !status) return corrupt(status.error().message);
  session.end_ms = t_ms;
  session.events.push_back(std::move(event));
  return {};
}

Status LogReader::read(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return corrupt("no JSON object");
  Line line(json);
  line.require("v");
  line.require("t_ms");
  const std::uint64_t version = line.number("v", ~0ULL, 0);
  const std::uint64_t t_ms = line.number("t_ms", kMaxKeyLogTime, 0);
  const std::string kind = line.string("kind");
  if (!line.complaint().empty()) return corrupt(line.complaint());
  if (version != kKeyLogVersion) {
    return Error{ErrorCode::Version, "v is " + std::to_string(version) + "; this build reads " +
                                         std::to_string(kKeyLogVersion)};
  }
  if (kind == "session") {
    return begin(line);
  }
  if (!field_) return corrupt("outside a session");
  KeySession& session = sessions_.back();
  if (t_ms < session.end_ms) return corrupt("t_ms is less than in the line before");
  if (kind == "end") {
    if (line.has("bytes") && line.number("bytes", ~0ULL, 0) != field_->text().size()) {
      return corrupt("bytes is not the length of the text that the events make");
    }
    session.end_ms = t_ms;
    field_.reset();
    return {};
  }
  if (kind == "key") return add(line, KeyEventKind::Key, t_ms);
  if (kind == "erase") return add(line, KeyEventKind::Erase, t_ms);
  if (kind == "caret") return add(line, KeyEventKind::Caret, t_ms);
  if (kind == "pick") return add(line, KeyEventKind::Pick, t_ms);
  return corrupt("kind is none of those that KEYLOG.md lists");
}

}  // namespace

const char* slip_name(SlipKind kind) { return kSlipNames[static_cast<std::size_t>(kind)]; }
const char* pick_name(PickFrom from) { return kPickNames[static_cast<std::size_t>(from)]; }

Status PlayedField::apply(const KeyEvent& event) {
  if (event.kind == KeyEventKind::Caret) {
    if (event.caret > text_.size() || !on_boundary(text_, event.caret)) {
      return Error{ErrorCode::BadArgument, "the caret is beyond the text or inside a character"};
    }
    caret_ = event.caret;
    return {};
  }
  if (event.erase_before > caret_ || event.erase_after > text_.size() - caret_) {
    return Error{ErrorCode::BadArgument, "more is taken away than there is"};
  }
  const std::size_t begin = caret_ - event.erase_before;
  const std::size_t end = caret_ + event.erase_after;
  if (!on_boundary(text_, begin) || !on_boundary(text_, end)) {
    return Error{ErrorCode::BadArgument, "half a character is taken away"};
  }
  if (!base::is_valid_utf8(event.text)) {
    return Error{ErrorCode::BadArgument, "the text is no UTF-8"};
  }
  text_.replace(begin, end - begin, event.text);
  caret_ = begin + event.text.size();
  return {};
}

void append_key_log(const KeySession& session, std::string* out) {
  Json begin = start_of("session", 0);
  begin["typist"] = session.typist == TypistKind::Simulated ? "simulated" : "person";
  begin["field"] = "text";
  if (session.typist == TypistKind::Simulated) {
    begin["seed"] = session.seed;
    begin["meant"] = session.meant;
  }
  if (!session.before.empty()) begin["before"] = session.before;
  if (!session.after.empty()) begin["after"] = session.after;
  append_line(begin, out);
  PlayedField field(session);
  for (const KeyEvent& event : session.events) {
    append_line(json_of(event), out);
    (void)field.apply(event);  // one that does not fit is the reader's to refuse
  }
  Json end = start_of("end", session.end_ms);
  end["bytes"] = field.text().size();
  append_line(end, out);
}

Result<std::vector<KeySession>> parse_key_log(std::string_view log) {
  LogReader reader;
  for (std::size_t number = 1; !log.empty(); ++number) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.empty()) continue;
    const std::string where = "line " + std::to_string(number) + ": ";
    if (line.size() > kMaxKeyLogLine) {
      return Error{ErrorCode::TooLarge,
                   where + "longer than " + std::to_string(kMaxKeyLogLine) + " bytes"};
    }
    if (Status status = reader.read(line); !status) {
      return Error{status.error().code, where + status.error().message};
    }
  }
  return reader.take();
}

}  // namespace laya::eval
