#include "convert/convert_texts.h"

#include <algorithm>
#include <array>

namespace laya::convert {
namespace {

using Text = std::string_view;

constexpr auto kParity = std::to_array<Text>({
    "Good morning everyone, the meeting has been moved to three o'clock because the room is not "
    "free before that.",
    "各位早上好，今天的会议改到下午三点，因为上午会议室已经有人用了，给大家带来不便，非常抱歉。",
    "I just wanted to say thank you for everything you have done for us during the last few "
    "months. It means a lot.",
    "真的非常感谢你这段时间的帮助，没有你的话，这件事情不可能这么顺利。",
    "Do you know a good place to eat around here? Nothing fancy, just something warm before we go "
    "to the station.",
    "你知道这附近有什么好吃的吗？不用太贵，简单吃一点，然后我们就去火车站。",
    "The results are better than we expected, but there are still a few things that we should "
    "check before we publish them.",
    "实验结果比我们想象的要好，不过在发表之前，还有几个地方需要再检查一下。",
    "When the sun went down, the children came back from the beach with sand in their shoes and "
    "shells in their pockets.",
    "太阳下山的时候，孩子们从海边跑回来，鞋子里全是沙子，口袋里装满了贝壳。",
    "If you press the button for more than five seconds, the device will forget all its settings "
    "and start again.",
    "按住这个按钮超过五秒钟，设备就会恢复出厂设置，所有的数据都会被删除，请一定要小心。",
    "Let's not argue about this any more. I was wrong, and I should have asked you first.",
    "别再为这件事吵架了，是我不对，我应该先问问你的意见再做决定。",
    "Our flight leaves at half past six, so we have to be at the airport at about four in the "
    "morning.",
    "我们的飞机是早上六点半的，所以四点左右就要到机场，今天晚上早点睡吧。",
    "He had worked in the same factory for thirty years, and on his last day nobody knew what to "
    "say.",
    "他在同一家工厂工作了三十年，最后一天下班的时候，大家都不知道该说什么好。",
    "Water boils at a lower temperature in the mountains, which is why it takes longer to cook "
    "rice there.",
    "在山上，水不到一百度就会开，所以煮米饭需要更长的时间，很多人刚开始都不习惯。",
    "Can you send me the address again? I deleted the message by mistake.",
    "你能把地址再发给我一次吗？我不小心把那条消息删掉了。",
    "The government announced on Tuesday that the price of public transport will not change before "
    "the end of next year.",
    "政府星期二宣布，公共交通的价格在明年年底之前不会有变化，市民可以放心。",
    "I'm on my way, but there is a lot of traffic. I think I'll be there in about fifteen minutes.",
    "我已经在路上了，不过现在有点堵车，大概还要十五分钟才能到，你们先点菜吧。",
    "This book tells the story of a family who leave their village and try to start a new life in "
    "a big city.",
    "这本书讲的是一个家庭离开农村，到大城市里重新开始生活的故事，看完以后我很感动。",
    "We need to talk about the budget. The costs have gone up by ten percent and the customer is "
    "not happy about it.",
    "我们需要谈一谈预算的问题，成本比原来增加了百分之十，客户对这一点不太满意。",
    "The doctor says it is nothing serious, but I have to stay in bed for a few days and drink a "
    "lot of tea.",
    "医生说没有什么大问题，就是最近太累了，好好休息几天，多喝水，按时吃药就行。",
    "Have you seen my keys? They were on the kitchen table this morning and now I can't find them "
    "anywhere.",
    "你看到我的钥匙了吗？早上还在桌子上，现在怎么找也找不到了。",
});

}  // namespace

std::vector<Text> lines_of(Text text) {
  std::vector<Text> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::span<const Text> parity_texts() { return kParity; }

}  // namespace laya::convert
