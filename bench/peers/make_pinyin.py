#!/usr/bin/env python3
"""Pinyin sentences to measure an input method with: Chinese clauses of a text and what would be typed for them.

usage: make_pinyin.py [--count N] [--seed N] [--before] [--report] FILE... > pinyin.tsv     (FILE: plain text or .zst)

Texts under a folder called test are refused unless --report says that the figures are for a report, not for choosing anything.

Writes lines `pinyin<TAB>sentence`. A sentence is a run of 4 to 20 Chinese characters between punctuation. Toneless pinyin
without spaces; characters of several readings take the reading of the phrase they stand in (pypinyin's phrase table). A
sentence is left out when a character of several readings stands in no phrase that the table knows (its reading would be a
guess), and an apostrophe is written where a syllable could run into the one before it (xi'an). With --before, a line
`#before<TAB>text` ahead of each sentence gives what stands left of it in its line.
"""
import argparse
import io
import random
import re
import subprocess
import sys

from pypinyin import Style, lazy_pinyin, load_phrases_dict, pinyin
from pypinyin.constants import PHRASES_DICT

HAN = re.compile(r"[\u4e00-\u9fff]+")
# Everyday single characters of several readings whose usual one is right nearly always when they stand alone.
USUAL = {"的": "de", "了": "le", "是": "shi", "不": "bu", "我": "wo", "你": "ni", "在": "zai", "有": "you", "这": "zhe", "那": "na",
         "个": "ge", "们": "men", "上": "shang", "说": "shuo", "什": "shen", "么": "me", "家": "jia", "吗": "ma", "吧": "ba",
         "呢": "ne", "啊": "a", "大": "da", "一": "yi", "到": "dao", "会": "hui", "好": "hao", "要": "yao", "看": "kan", "没": "mei",
         "过": "guo", "还": "hai", "给": "gei", "里": "li", "下": "xia", "能": "neng", "去": "qu", "想": "xiang", "才": "cai",
         "着": "zhe", "和": "he", "都": "dou", "得": "de", "地": "di"}
SURE_AS_IS = {"的", "了", "是", "不", "我", "你", "在", "有", "这", "那", "个", "们", "上", "说", "么", "家", "吗", "吧", "呢", "啊",
              "一", "到", "会", "要", "看", "过", "给", "里", "下", "能", "去", "想", "才", "和", "大", "好"}


# Readings of the phrase table that are wrong where the texts speak of Beijing, or wrong altogether (checked by reading all
# phrases of the texts that change a character's usual reading).
FIXES = {"朝阳": "chao yang", "朝阳区": "chao yang qu", "朝阳门": "chao yang men", "朝阳公园": "chao yang gong yuan", "查查": "cha cha"}
load_phrases_dict({phrase: [[syllable] for syllable in reading.split()] for phrase, reading in FIXES.items()})
# Phrases that are cut or read in two ways: sentences with them are left out.
CONTESTED = ("劲松", "十里堡", "质的", "的当", "定都", "大都", "中都", "京都", "都会", "不了", "总得", "将进酒", "外传", "长长", "嗯", "呣")

# Characters that everyday text reads in more than one toneless way. The table lists old and rare readings of many more; those
# are taken as it reads them.
POLYPHONES = set("长行重乐还都得地了着传藏曾差参调弹朝什没系降强给落露薄剥削血熟谁率绿角觉校解单石车会大色厦宿提的和似识属说省盛数期奇圈卷便"
                 "别伯泊埋模脉秘那哪呢尿粘屏迫仆瀑曝栖缉亲曲壳勒六陆种幢拽转柏番否佛龟咖卡扛咳吓虾巷纤叶艾俞尉员约钥殷咽爪扎炸琢查倒好恶"
                 "将间教尽空量难宁漂铺切任散丧舍什沈折只中撒塞刹煞杉莎澄乘丞匙臭畜囤顿盾度夺堕蛾坊仿夹戛贾价娇缴嚼洁劲颈据咀俊菌楷扩括"
                 "拉蜡捞肋累棱俩撩令溜拢弄虏娄绿论络埋眯靡糜娩谬南娜呐疟排胖刨泡炮辟片撇颇朴奇起洽呛抢悄茄且怯券确雀若塞绳识拾适氏似遂"
                 "缩踏苔汤趟陶体帖吐褪驮瓦唯委温涡息吸蝎兴旋寻鸭雅哑验殃遥要耶液遗饮应佣予与雨语育晕载攒脏择轧粘丈折症知指治轴属筑桩坠卓仔钻")


def in_phrase(sentence):
    """Which characters stand in a phrase of the table (longest match from the left, up to 8 characters)."""
    known = [False] * len(sentence)
    at = 0
    while at < len(sentence):
        for length in range(min(8, len(sentence) - at), 1, -1):
            if sentence[at:at + length] in PHRASES_DICT:
                known[at:at + length] = [True] * length
                at += length
                break
        else:
            at += 1
    return known


def typed(sentence):
    """What is typed for `sentence`; None where a reading would be a guess."""
    if any(phrase in sentence for phrase in CONTESTED):
        return None
    readings = lazy_pinyin(sentence, style=Style.NORMAL, errors=lambda _: [""], v_to_u=False)
    if len(readings) != len(sentence) or not all(readings):
        return None
    known = in_phrase(sentence)
    for index, character in enumerate(sentence):
        variants = {form for form in pinyin(character, style=Style.NORMAL, heteronym=True)[0]}
        if len(variants) > 1 and character in POLYPHONES and not known[index]:
            if character not in SURE_AS_IS:
                return None
            readings[index] = USUAL[character]
    out = ""
    for reading in readings:
        reading = reading.replace("ü", "v")
        out += ("'" if out and reading[0] in "aeo" else "") + reading
    return out


def lines_of(path):
    if path.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
    else:
        text = io.open(path, encoding="utf-8").read()
    return text.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500, help="sentences in all, drawn evenly from the files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--before", action="store_true", help="write the text before each sentence too")
    parser.add_argument("--report", action="store_true", help="take test texts: nothing is chosen by the figures")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    each = (options.count + len(options.files) - 1) // len(options.files)
    seen = set()
    for path in options.files:
        if "/test/" in path and not options.report:
            sys.exit(f"{path}: test texts are for reports, not for choosing; --report says that this is one")
        found = {}
        for line in lines_of(path):
            for run in HAN.finditer(line):
                if 4 <= len(run.group()) <= 20 and run.group() not in seen:
                    found.setdefault(run.group(), line[:run.start()])
        sentences = sorted(found.items())
        draw.shuffle(sentences)
        taken = 0
        for sentence, before in sentences:
            if taken == each:
                break
            keys = typed(sentence)
            if keys is not None:
                seen.add(sentence)
                if options.before:
                    print(f"#before\t{before}")
                print(f"{keys}\t{sentence}")
                taken += 1


if __name__ == "__main__":
    main()
