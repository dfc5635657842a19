#!/usr/bin/env python3
"""The n-gram baselines as peers: word trigram and character 5-gram, counted on a training corpus when this starts.

The folder given holds trigram.py (class Trigram, TOKEN) and chargram.py (class CharGram); they are not part of Laya. Reads one JSON
object a line, answers one a line:
  {"before": text, "count": n} -> {"words": [...]}     trigram: whole words, lower case; chargram: next characters
The first line it writes says what it is. Exit code 3: not there.

usage: baseline_ngrams.py FOLDER trigram|chargram
"""
import json
import os
import sys


class Words:
    name = "word trigram"

    def __init__(self):
        import trigram
        self.model, self.token = trigram.Trigram(), trigram.TOKEN

    def top(self, before, count):
        words = before.lower().split()
        typed = words.pop() if words and not before[-1].isspace() else ""
        context = ["<s>", "<s>"]
        for word in words[-8:] if len(words) > 8 else words:  # two tokens are looked at
            context += self.token.findall(word)
        return self.model.top(tuple(context[-2:]), typed, count)


class Characters:
    name = "character 5-gram"

    def __init__(self):
        import chargram
        self.model = chargram.CharGram()

    def top(self, before, count):
        return [c for c, _ in self.model.next(("^^^^" + before)[-4:]).most_common(count)]


def main():
    folder, kind = sys.argv[1], sys.argv[2]
    name = {"trigram": "trigram.py", "chargram": "chargram.py"}[kind]
    if not os.path.exists(os.path.join(folder, name)):
        print(json.dumps({"missing": name}), flush=True)
        sys.exit(3)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    model = Words() if kind == "trigram" else Characters()
    print(json.dumps({"name": model.name}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps({"words": model.top(command["before"], command["count"])}), flush=True)


if __name__ == "__main__":
    main()
