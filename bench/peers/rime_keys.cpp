// librime as people type into it, key by key, in the form of libime_keys.cpp: answers a line
// {"typed":"nihao"} by {"first":["你好",…],"key_ns":[…]}: its first five readings of all the
// letters, and the time from each key to its list. An empty user folder, nothing is learnt. Used by
// `laya eval peers --pinyin`.
//
// usage: rime_keys [SCHEMA [SHARED_DATA]]
//        (default: luna_pinyin, written in simplified characters; /usr/share/rime-data)
#include <rime_api.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "peer_lines.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFirst = 5;

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
  const char* version() const { return api_->get_version(); }

  laya::peers::Json answer(const std::string& typed) {
    api_->clear_composition(session_);
    laya::peers::Json times = laya::peers::Json::array();
    for (const char key : typed) {
      const auto begin = Clock::now();
      api_->process_key(session_, key, 0);
      RIME_STRUCT(RimeContext, context);  // a front end asks for the list at every key
      if (api_->get_context(session_, &context)) api_->free_context(&context);
      times.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
    }
    std::vector<std::string> first;
    RimeCandidateListIterator list{};
    if (api_->candidate_list_begin(session_, &list)) {
      // Words of the first syllables only come behind whole sentences and are shorter.
      std::size_t longest = 0;
      while (first.size() < kFirst && api_->candidate_list_next(&list)) {
        std::string text = list.candidate.text;
        longest = std::max(longest, text.size());
        if (text.size() < longest) break;
        if (std::find(first.begin(), first.end(), text) == first.end()) {
          first.push_back(std::move(text));
        }
      }
      api_->candidate_list_end(&list);
    }
    return {{"first", first}, {"key_ns", times}};
  }

 private:
  RimeApi* api_;
  RimeSessionId session_ = 0;
  bool ready_ = false;
};

int run(const char* schema, const std::string& shared) {
  std::string folder = (std::filesystem::temp_directory_path() / "laya-rime-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "rime_keys: no folder for its user data\n");
    return 1;
  }
  int code = 3;
  {
    Rime rime(shared, folder, schema);
    if (rime.is_ready()) {
      const std::string name = std::string("librime ") + rime.version() + ", " + schema;
      code = laya::peers::serve({{"name", name}}, [&](const laya::peers::Json& command) {
        return rime.answer(command.at("typed").get<std::string>());
      });
    } else {
      std::cout << laya::peers::Json{{"missing", std::string("schema ") + schema}}.dump()
                << std::endl;
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? argv[1] : "luna_pinyin", argc > 2 ? argv[2] : "/usr/share/rime-data");
}
