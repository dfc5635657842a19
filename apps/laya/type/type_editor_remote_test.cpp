// A completion server's answers in the editor of `laya type`.
#include <gtest/gtest.h>
#include <poll.h>

#include "laya/type/test_engine.h"
#include "laya/type/type_editor.h"
#include "laya/type/type_view.h"
#include "setup/test_remote.h"

namespace laya::apps {
namespace {

using setup::answer_of;
using setup::TestServer;

class TypeEditorRemote : public setup::RemoteAnswersTest {};

void press(TypeEditor& editor, std::string_view bytes) {
  KeyReader reader;
  std::vector<Key> keys;
  reader.feed(bytes, keys);
  for (const Key& key : keys) {
    editor.handle(key);
    editor.decide();
  }
}

bool wait_for_answer(TypeEditor& editor) {
  pollfd what{editor.remote_fd(), POLLIN, 0};
  return ::poll(&what, 1, 20'000) == 1 && editor.take_remote_answers();
}

TEST_F(TypeEditorRemote, TheEditorMarksItsCandidatesAndPicksThem) {
  TestServer server([](const std::string&) { return answer_of({"orrow at noon", "s trip"}); });
  const auto remote = asking(server);
  TypeEditor editor(test_engine(), predict::kRestOfFrame, remote.get());
  press(editor, "see you tom");
  const std::string first = editor.offers().at(0).text;
  ASSERT_TRUE(wait_for_answer(editor)) << remote->last_error();
  ASSERT_LE(editor.offers().size(), TypeEditor::kCandidates);
  EXPECT_EQ(editor.offers()[0].text, first) << "the first places stay";
  const TypeEditor::Offer last = editor.offers().back();
  EXPECT_EQ(last.text, "toms trip");
  EXPECT_EQ(last.tier, predict::Tier::Remote);
  const std::string shown = draw(editor, 24, 100, "").row_text(22);
  EXPECT_NE(shown.find("toms trip \xE2\x86\x97"), std::string::npos) << shown;
  EXPECT_EQ(shown.find(first + " \xE2\x86\x97"), std::string::npos) << shown;
  editor.handle({KeyKind::Pick, "", static_cast<int>(editor.offers().size())});
  EXPECT_EQ(editor.before(), "see you toms trip");
}

TEST_F(TypeEditorRemote, TheEditorShowsNoAnswerToAnOlderText) {
  TestServer server([](const std::string& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return answer_of({request.find("see you tomo") != std::string::npos ? "rrow late" : "late"});
  });
  const auto remote = asking(server);
  TypeEditor editor(test_engine(), predict::kRestOfFrame, remote.get());
  press(editor, "see you tom");
  editor.handle({KeyKind::Text, "o"});  // the answer that comes is of the text before
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_FALSE(editor.take_remote_answers());
  editor.decide();
  ASSERT_TRUE(wait_for_answer(editor)) << remote->last_error();
  EXPECT_EQ(editor.offers().back().text, "tomorrow late");
  editor.handle({KeyKind::Escape, ""});
  EXPECT_FALSE(editor.take_remote_answers());
  EXPECT_TRUE(editor.offers().empty());
}

}  // namespace
}  // namespace laya::apps
