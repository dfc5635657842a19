#!/usr/bin/env python3
"""Pinyin sentences to measure an input method with: Chinese clauses of a text and what would be typed for them.

usage: make_pinyin.py [--count N] [--seed N] [--before] FILE... > pinyin.tsv    (FILE: plain text or .zst; dev files, never test)

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

from pypinyin import Style, lazy_pinyin, pinyin
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
    readings = lazy_pinyin(sentence, style=Style.NORMAL, errors=lambda _: [""], v_to_u=False)
    if len(readings) != len(sentence) or not all(readings):
        return None
    known = in_phrase(sentence)
    for index, character in enumerate(sentence):
        variants = {form for form in pinyin(character, style=Style.NORMAL, heteronym=True)[0]}
        if len(variants) > 1 and not known[index]:
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
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    each = (options.count + len(options.files) - 1) // len(options.files)
    seen = set()
    for path in options.files:
        if "/test/" in path:
            sys.exit(f"{path}: test texts are for reports of releases, not for this")
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
