#include "predict/pinyin/pinyin_hypothesis.h"

#include <algorithm>

namespace laya::predict {

bool likelier(const PinyinHypothesis& a, const PinyinHypothesis& b) {
  return a.total != b.total ? a.total > b.total : a.text_hash < b.text_hash;
}

void sort_and_unite(std::vector<PinyinHypothesis>* list, std::size_t keep) {
  std::sort(list->begin(), list->end(), [](const PinyinHypothesis& a, const PinyinHypothesis& b) {
    return a.text_hash != b.text_hash ? a.text_hash < b.text_hash : a.total > b.total;
  });
  list->erase(std::unique(list->begin(), list->end(),
                          [](const PinyinHypothesis& a, const PinyinHypothesis& b) {
                            return a.text_hash == b.text_hash;
                          }),
              list->end());
  std::sort(list->begin(), list->end(), likelier);
  if (list->size() > keep) {
    list->erase(list->begin() + static_cast<std::ptrdiff_t>(keep), list->end());
  }
}

}  // namespace laya::predict
