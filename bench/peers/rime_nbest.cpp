// librime's own answers to whole pinyin sentences, in the form of libime_nbest.cpp: reads lines
// `pinyin<TAB>expected`, writes `pinyin<TAB>expected{<TAB>candidate<TAB>score}`, best first; rime
// gives no scores, so they are -1, -2, …. Typed key by key into a fresh composition, with an empty
// user folder; only candidates that take all of the pinyin are written. Lines that begin with # are
// handed on. The time a key takes is told on standard error.
//
// usage: rime_nbest [COUNT [SCHEMA [SHARED_DATA]]] < pinyin.tsv > nbest.tsv
//        (default: 5, pinyin_simp, /usr/share/rime-data; luna_pinyin writes traditional characters
//        unless its option simplification is on, which this turns on)
#include <rime_api.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

class Rime {
 public:
  Rime(const std::string& shared, const std::string& user, const char* schema)
      : api_(rime_get_api()) {
    RIME_STRUCT(RimeTraits, traits);
    traits.shared_data_dir = shared.c_str();
    traits.user_data_dir = user.c_str();
    traits.distribution_name = "laya";
    traits.distribution_code_name = "laya";
    traits.distribution_version = "1";
    traits.app_name = "rime.laya";
    traits.min_log_level = 3;
    api_->setup(&traits);
    api_->initialize(&traits);
    if (api_->start_maintenance(True)) api_->join_maintenance_thread();
    session_ = api_->create_session();
    ready_ = session_ != 0 && api_->select_schema(session_, schema) != 0;
    if (ready_) api_->set_option(session_, "simplification", True);
  }
  Rime(const Rime&) = delete;
  Rime& operator=(const Rime&) = delete;
  ~Rime() {
    if (session_ != 0) api_->destroy_session(session_);
    api_->finalize();
  }

  bool is_ready() const { return ready_; }

  std::vector<std::string> answers(const std::string& pinyin, std::size_t count) {
    api_->clear_composition(session_);
    for (const char key : pinyin) {
      const auto begin = Clock::now();
      api_->process_key(session_, key, 0);
      RIME_STRUCT(RimeContext, context);  // a front end asks for the list at every key
      if (api_->get_context(session_, &context)) api_->free_context(&context);
      key_us_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    std::vector<std::string> found;
    std::unordered_set<std::string> seen;
    RimeCandidateListIterator list{};
    if (!api_->candidate_list_begin(session_, &list)) return found;
    // Words of the first syllables only come behind whole sentences and are shorter.
    std::size_t longest = 0;
    while (found.size() < count && api_->candidate_list_next(&list)) {
      const std::string text = list.candidate.text;
      longest = std::max(longest, text.size());
      if (text.size() < longest) break;
      if (seen.insert(text).second) found.push_back(text);
    }
    api_->candidate_list_end(&list);
    return found;
  }

  void report() {
    std::sort(key_us_.begin(), key_us_.end());
    if (key_us_.empty()) return;
    const auto at = [&](double share) {
      return key_us_[static_cast<std::size_t>(share * static_cast<double>(key_us_.size() - 1))];
    };
    std::fprintf(stderr, "rime: %zu keys, p50 %.0f us, p99 %.0f us\n", key_us_.size(), at(0.5),
                 at(0.99));
  }

 private:
  RimeApi* api_;
  RimeSessionId session_ = 0;
  bool ready_ = false;
  std::vector<double> key_us_;
};

int run(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5;
  const char* schema = argc > 2 ? argv[2] : "pinyin_simp";
  const std::string shared = argc > 3 ? argv[3] : "/usr/share/rime-data";
  std::string folder = (std::filesystem::temp_directory_path() / "laya-rime-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "rime_nbest: no folder for its user data\n");
    return 1;
  }
  {
    Rime rime(shared, folder, schema);
    if (!rime.is_ready()) {
      std::fprintf(stderr, "rime_nbest: %s has no schema %s\n", shared.c_str(), schema);
      return 3;
    }
    for (std::string line; std::getline(std::cin, line);) {
      const std::size_t tab = line.find('\t');
      std::cout << line;
      if (!line.starts_with('#') && tab != std::string::npos) {
        int place = 0;
        for (const std::string& text : rime.answers(line.substr(0, tab), count)) {
          std::cout << '\t' << text << '\t' << --place;
        }
      }
      std::cout << '\n';
    }
    rime.report();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
