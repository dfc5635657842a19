#!/usr/bin/env python3
"""Makes emoji.tsv from the Unicode CLDR's annotations (Debian: unicode-cldr-core).

    make_emoji.py --cldr /usr/share/unicode/cldr/common --common WORDS --out emoji.tsv

Each line: key, kind (2: a plain word offers it, 1: only asked for by ':'), emoji best first, separated by spaces.
Sorted by the key's bytes. --common: text whose most frequent words offer nothing by themselves ("you", "good").
"""
import argparse
import collections
import re
import xml.etree.ElementTree as xml

COMMON_WORDS = 1000  # of the text: words of a name that are among them are offered behind ':' only
COMMON_NAMES = 300  # the same of whole names
ALWAYS = {'birthday'}  # common, and yet they say which emoji is meant
MOST = 24  # emoji a key
PLAIN_SHARED = 3  # a word in the names of more emoji than this says too little


def is_emoji(text):
    code = ord(text[0])
    return (code >= 0x1F000 or 0x2600 <= code <= 0x27BF or code in (0x2B50, 0x2B55, 0x231A, 0x231B, 0x23F0)) and not any(
        0x1F3FB <= ord(c) <= 0x1F3FF for c in text
    )


def text_by_default(code):
    """Of U+2600…27BF, what is shown as text where no selector follows (Unicode's emoji-data.txt: Emoji_Presentation=No)."""
    coloured = {0x2614, 0x2615, 0x267F, 0x2693, 0x26A1, 0x26AA, 0x26AB, 0x26BD, 0x26BE, 0x26C4, 0x26C5, 0x26CE, 0x26D4, 0x26EA, 0x26F2,
                0x26F3, 0x26F5, 0x26FA, 0x26FD, 0x2705, 0x270A, 0x270B, 0x2728, 0x274C, 0x274E, 0x2753, 0x2754, 0x2755, 0x2757, 0x2795,
                0x2796, 0x2797, 0x27B0, 0x27BF, *range(0x2648, 0x2654)}
    return 0x2600 <= code <= 0x27BF and code not in coloured


def shown(text):
    """With the selectors that ask for the coloured form: CLDR leaves them out."""
    return ''.join(c + '\uFE0F' if text_by_default(ord(c)) else c for c in text.replace('\uFE0F', ''))


def key_of(name):
    return re.sub(r"[\s_\-:,’'“”\".!()]+", ' ', name.lower()).strip()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument('--cldr', required=True)
    arguments.add_argument('--common', required=True, nargs='+')
    arguments.add_argument('--out', required=True)
    options = arguments.parse_args()
    counts = collections.Counter()
    for path in options.common:
        with open(path, encoding='utf-8', errors='replace') as text:
            counts.update(re.findall(r'[a-z]+', text.read().lower()))
    ranked_words = [word for word, _ in counts.most_common(COMMON_WORDS)]
    common, common_names = set(ranked_words), set(ranked_words[:COMMON_NAMES])

    found = collections.defaultdict(dict)  # key -> emoji -> rank: 0 the name, 1 what the name is about, 2 a keyword
    order = {}
    for language in ('en', 'zh'):
        for folder in ('annotations', 'annotationsDerived'):
            tree = xml.parse(f'{options.cldr}/{folder}/{language}.xml')
            rows = collections.defaultdict(dict)
            for row in tree.iter('annotation'):
                rows[row.get('cp')]['name' if row.get('type') == 'tts' else 'words'] = row.text or ''
            for emoji, row in rows.items():
                if not is_emoji(emoji) or 'name' not in row:
                    continue
                order.setdefault(emoji, len(order))
                name = key_of(row['name'])
                keys = {key_of(word): 2 for word in row.get('words', '').split('|')}
                for key in keys:
                    ends = name.split()[-1:] if language == 'en' else [key] if name.startswith(key) or name.endswith(key) else []
                    if key in ends:
                        keys[key] = 1
                keys[name] = 0
                for key, rank in keys.items():
                    if key and len(key.encode()) <= 40 and re.fullmatch(r"[a-zÀ-ɏ0-9 +&一-鿿]+", key):
                        best = found[key]
                        best[emoji] = min(rank, best.get(emoji, 9))

    with open(options.out, 'w', encoding='utf-8') as out:
        out.write('# laya emoji 1: names and keywords of Unicode CLDR (Unicode licence: README.md)\n')
        for key in sorted(found, key=str.encode):
            cat = '\U0001F638' <= min(found[key]) <= '\U0001F640' and len(found[key]) == 1 or 'cat' in key or '猫' in key
            ranked = sorted(
                found[key],
                key=lambda e: (found[key][e] != 0, not cat and 0x1F638 <= ord(e[0]) <= 0x1F640, found[key][e], len(e), order[e]),
            )[:MOST]
            strong = sum(1 for e in found[key] if found[key][e] <= 1)
            named = found[key][ranked[0]] == 0
            if key.isascii():
                long_enough = key.isalpha() and len(key) >= (3 if named else 4)
                rare_enough = key not in (common_names if named else common)
            else:
                long_enough, rare_enough = len(key) >= 2, True
            plain = key in ALWAYS or (
                ' ' not in key and long_enough and rare_enough and (named or 1 <= strong <= PLAIN_SHARED)
            )
            out.write(f"{key}\t{2 if plain else 1}\t{' '.join(shown(e) for e in ranked)}\n")


if __name__ == '__main__':
    main()
