#!/usr/bin/env python3
"""Compares our subword tokenizers with Hugging Face's `tokenizers` on mixed strings, family by family.

    pip install tokenizers sentencepiece            (a virtual environment will do)
    ninja -C build subword_lines
    python bench/peers/tokenizer_parity.py --tool build/bin/subword_lines [--gguf FILE …] [--text FILE …]

Families: gpt2, smollm, llama3, qwen2 (byte-level, small vocabularies trained here on our own text),
gemma and llama2 (sentencepiece, likewise), and each GGUF file given: its vocabulary rebuilt as the
tokenizer.json that Hugging Face's converter makes of it. A GGUF is also compared as llama.cpp's
metadata alone (scores, token types), and with llama_cpp's own tokenizer where that is installed.
`--golden testdata/tokenizers` rewrites the small files that the C++ tests read (see README.md there).
"""
import argparse, json, os, random, struct, subprocess, sys, tempfile, unicodedata

BLANK = "\u2581"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


# ---------------------------------------------------------------- strings
SNIPPETS = [
    "I'll be there at 7:45pm, don't wait!", "It's 3.14159 — isn't it?", "WE'RE LATE, HE'D SAY", "'sup y'all'd've 'tis o'clock",
    "for (int i = 0; i < 10; ++i) {\n\t\tsum += a[i] * 2;\n\t}\n", "def f(x):\n    return x ** 2  # square\n\n\n", "SELECT * FROM t WHERE id=42;",
    "https://example.org/a?b=c&d=%20e#f", "user.name+tag@example.co.uk", "{\"key\": [1, 2.5, null]}", "<table><td>1</td></table>\n", "C:\\dir\\file.txt",
    "我明天下午三点到北京，你来接我吗？", "好的，没问题！", "这个API的response是JSON格式，status=200。", "今天吃了3个苹果🍎和2杯☕", "「你好」、（再见）…——",
    "繁體中文也要測試一下", "ひらがなとカタカナ、漢字です。", "안녕하세요 세계", "Привет, как дела?", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم ١٢٣", "नमस्ते दुनिया", "สวัสดีชาวโลก",
    "👨‍👩‍👧‍👦 family 🏳️‍🌈 flag 🇨🇳🇺🇸 👍🏽", "😀😂🤣😅", "e\u0301 vs \u00e9, a\u0308\u0323, \u1e9b\u0323", "Å Å \u212b \u2126 \ufb01 ½ ² ⅷ Ⅻ ①", "x\u0338=\u0338<\u0338", "한\u1112\u1161\u11ab",
    "   leading", "trailing   ", "a  b   c    d", "\n\n\n", "\r\n\r\n", "\t\ttabs\t", " \n \n x", "!\n\n?", "...\n", " \u00a0\u2003\u3000x", "\u200b\u200d\ufeff", "\u0085\u2028\u2029y",
    "1234567890", "12,345.67", "2026-11-29T18:44:39Z", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "zhzhzhzh", "\u017f'\u017f 'S 'T 'RE 'VE 'M 'LL 'D", "\x00\x01\x7f\x1b[0m",
]


def assigned():
    """Code points with a character, surrogates and private use less, and the block element that is sentencepiece's space."""
    return [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and chr(c) != BLANK]


def make_strings(count, seed, texts):
    r = random.Random(seed)
    every = assigned()
    marks = [c for c in every if unicodedata.category(chr(c)).startswith("M")]
    lines = [line.rstrip("\n") for path in texts for line in open(path, encoding="utf-8")][:200000] or SNIPPETS
    lines = [l.replace(BLANK, "_") for l in lines]

    def part():
        kind = r.randrange(14)
        if kind < 4:
            line = r.choice(lines)
            start = r.randrange(len(line) + 1)
            return line[start:start + r.randrange(80)]
        if kind < 7:
            return r.choice(SNIPPETS)
        if kind == 7:
            return "".join(chr(r.choice(every)) for _ in range(r.randrange(1, 8)))
        if kind == 8:
            return "".join(chr(r.choice(every)) + chr(r.choice(marks)) * r.randrange(3) for _ in range(r.randrange(1, 4)))
        if kind == 9:
            return r.choice([" ", "\n", "\t", "\r\n", " \n", "\u3000"]) * r.randrange(1, 40 if r.random() < .1 else 6)
        if kind == 10:
            return str(r.randrange(10 ** r.randrange(1, 14)))
        if kind == 11:
            return r.choice(["'s", "'t", "'re", "'VE", "'m", "'Ll", "'d", "'", "\u2019s", "''", "'\u017f"])
        if kind == 12:
            return "".join(r.choice("abcXYZ123 .,!?'\"\n-_/\\=+é中，") for _ in range(r.randrange(1, 20)))
        return "".join(chr(r.randrange(0x4E00, 0x9FFF)) for _ in range(r.randrange(1, 12)))

    out = ["", " ", "  ", "\n"] + SNIPPETS
    while len(out) < count:
        out.append(r.choice(["", " ", ""]).join(part() for _ in range(r.randrange(1, 7))))
    return out[:count]


# ---------------------------------------------------------------- Hugging Face's side
def hf():
    import tokenizers
    return tokenizers


def byte_level(kind, texts, size):
    t = hf()
    tok = t.Tokenizer(t.models.BPE(ignore_merges=kind == "llama3"))
    split = {"llama3": LLAMA3, "qwen2": QWEN2}.get(kind)
    pre = t.pre_tokenizers
    if split:
        tok.pre_tokenizer = pre.Sequence([pre.Split(t.Regex(split), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    elif kind == "smollm":
        tok.pre_tokenizer = pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)])
    else:
        tok.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
    if kind == "qwen2":
        tok.normalizer = t.normalizers.NFC()
    tok.decoder = t.decoders.ByteLevel()
    trainer = t.trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False,
                                    special_tokens=["<|endoftext|>", "<|im_start|>"])
    tok.train_from_iterator(texts, trainer)
    return tok


def generate_merges(pieces, scores):
    """As transformers/convert_slow_tokenizer.py does it for sentencepiece models (reverse=True: the higher score first)."""
    ids = {p: i for i, p in enumerate(pieces)}
    merges = []
    for piece, score in scores.items():
        local = [(piece[:i], piece[i:], score) for i in range(1, len(piece)) if piece[:i] in ids and piece[i:] in ids]
        merges += sorted(local, key=lambda m: (ids[m[0]], ids[m[1]]))
    merges.sort(key=lambda m: (m[2], len(m[0]), len(m[1])), reverse=True)
    return [(a, b) for a, b, _ in merges]


def sentencepiece_json(pieces, scores, roles, prefix):
    """The tokenizer.json of a sentencepiece model; roles are GGUF's token types."""
    t = hf()
    names = [p.replace(" ", BLANK) if role == 4 else p for p, role in zip(pieces, roles)]
    vocab = {p: i for i, p in enumerate(names)}
    # sentencepiece gives user-defined pieces score 0, so their merges come first; GGUF has lost that.
    ranked = {p: (0.0 if role == 4 else s) for p, s, role in zip(names, scores, roles) if role in (1, 4)}
    unk = names[roles.index(2)] if 2 in roles else None
    tok = t.Tokenizer(t.models.BPE(vocab, generate_merges(names, ranked), byte_fallback=True, fuse_unk=True, unk_token=unk))
    n = t.normalizers
    blanks = n.Replace(" ", BLANK)
    tok.normalizer = n.Sequence([n.Prepend(BLANK), blanks]) if prefix else blanks
    tok.add_special_tokens([t.AddedToken(p, normalized=False, special=True) for p, role in zip(names, roles) if role == 3])
    tok.add_tokens([t.AddedToken(p, normalized=False) for p, role in zip(names, roles) if role == 4])
    return tok


def train_sentencepiece(kind, texts, size):
    import sentencepiece as spm
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "text")
        with open(source, "w", encoding="utf-8") as out:
            out.write("\n".join(texts))
        gemma = kind == "gemma"
        marked = ["\n" * n for n in range(1, 5)] + [BLANK * n for n in range(2, 9)] + ["<td>", "<table>"] if gemma else []
        spm.SentencePieceTrainer.train(
            input=source, model_prefix=os.path.join(folder, "m"), vocab_size=size, model_type="bpe", byte_fallback=True,
            normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=not gemma, split_digits=True,
            allow_whitespace_only_pieces=not gemma, user_defined_symbols=marked, character_coverage=.9995, minloglevel=2, num_threads=1)
        sp = spm.SentencePieceProcessor(model_file=os.path.join(folder, "m.model"))
    pieces = [sp.id_to_piece(i) for i in range(sp.vocab_size())]
    roles = [2 if sp.is_unknown(i) else 3 if sp.is_control(i) else 6 if sp.is_byte(i) else 4 if p in marked else 1 for i, p in enumerate(pieces)]
    scores = [sp.get_score(i) for i in range(sp.vocab_size())]
    return pieces, scores, roles


# ---------------------------------------------------------------- GGUF
def gguf_metadata(path):
    sizes = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    with open(path, "rb") as f:
        def value(kind):
            if kind == 8:
                return f.read(struct.unpack("<Q", f.read(8))[0]).decode("utf-8")
            if kind == 9:
                inner, n = struct.unpack("<IQ", f.read(12))
                if inner == 8:
                    return [value(8) for _ in range(n)]
                return list(struct.unpack(f"<{n}{sizes[inner]}", f.read(n * struct.calcsize(sizes[inner]))))
            return struct.unpack("<" + sizes[kind], f.read(struct.calcsize(sizes[kind])))[0]
        assert f.read(4) == b"GGUF"
        _, _, keys = struct.unpack("<IQQ", f.read(20))
        out = {}
        for _ in range(keys):
            key = value(8)
            out[key] = value(struct.unpack("<I", f.read(4))[0])
        return out


def parts_of(meta):
    get = lambda key, absent=None: meta.get("tokenizer.ggml." + key, absent)
    return {"model": get("model"), "pre": get("pre", ""), "tokens": get("tokens"), "token_type": get("token_type"), "scores": get("scores", []),
            "merges": get("merges", []), "add_space_prefix": get("add_space_prefix", get("model") == "llama")}


def hf_from_parts(parts):
    t = hf()
    if parts["model"] == "llama":
        return sentencepiece_json(parts["tokens"], parts["scores"], parts["token_type"], parts["add_space_prefix"])
    tok = t.Tokenizer(t.models.BPE({p: i for i, p in enumerate(parts["tokens"])}, [tuple(m.split(" ")) for m in parts["merges"]],
                                   ignore_merges=parts["pre"] == "llama-bpe"))
    shape = byte_level({"llama-bpe": "llama3"}.get(parts["pre"], parts["pre"]), ["a"], 300)
    tok.pre_tokenizer = shape.pre_tokenizer
    if shape.normalizer:
        tok.normalizer = shape.normalizer
    tok.add_special_tokens([p for p, role in zip(parts["tokens"], parts["token_type"]) if role == 3])
    return tok


# ---------------------------------------------------------------- comparing
def our_ids(tool, path, strings):
    lines = "".join(json.dumps(s) + "\n" for s in strings)
    done = subprocess.run([tool, path], input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{tool}: {done.stderr}")
    return [[int(i) for i in line.split()] for line in done.stdout.split("\n")[:len(strings)]]


def compare(name, ours, theirs, strings, show=3):
    wrong = [i for i in range(len(strings)) if ours[i] != theirs[i]]
    print(f"{name:44} {len(strings) - len(wrong):6} of {len(strings)} equal")
    for i in wrong[:show]:
        at = next((k for k, (a, b) in enumerate(zip(ours[i], theirs[i])) if a != b), min(len(ours[i]), len(theirs[i])))
        print(f"    {strings[i]!r}\n      token {at}: ours {ours[i][at:at + 8]}, theirs {theirs[i][at:at + 8]}")
    return not wrong


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--tool", default="build/bin/subword_lines")
    a.add_argument("--gguf", nargs="*", default=[])
    a.add_argument("--text", nargs="*", default=["testdata/demo.txt"], help="text to train small vocabularies on and to cut strings from")
    a.add_argument("--count", type=int, default=10000)
    a.add_argument("--seed", type=int, default=4)
    a.add_argument("--size", type=int, default=4000, help="tokens of the vocabularies trained here")
    a.add_argument("--only", nargs="*")
    a.add_argument("--golden", help="write small tokenizers and expected ids to this folder instead of comparing")
    o = a.parse_args()
    strings = make_strings(o.count, o.seed, o.text)
    training = [line for path in o.text for line in open(path, encoding="utf-8")][:60000] + SNIPPETS * 3
    wanted = lambda name: not o.only or name in o.only
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kind in ["gpt2", "smollm", "llama3", "qwen2", "gemma", "llama2"]:
            if not wanted(kind):
                continue
            parts = None
            if kind in ("gemma", "llama2"):
                pieces, scores, roles = train_sentencepiece(kind, [t.rstrip("\n") for t in training], o.size)
                tok = sentencepiece_json(pieces, scores, roles, kind == "llama2")
                parts = {"model": "llama", "pre": "default", "tokens": pieces, "token_type": roles, "scores": scores, "merges": [],
                         "add_space_prefix": kind == "llama2"}
            else:
                tok = byte_level(kind, training, o.size)
            theirs = [tok.encode(s, add_special_tokens=False).ids for s in strings]
            if o.golden:
                write_golden(o.golden, kind, tok, parts, strings, theirs)
                continue
            path = os.path.join(folder, kind + ".json")
            tok.save(path)
            good &= compare(f"{kind}, tokenizer.json", our_ids(o.tool, path, strings), theirs, strings)
            if parts:
                path = os.path.join(folder, kind + ".parts.json")
                json.dump(parts, open(path, "w"))
                good &= compare(f"{kind}, scores and types", our_ids(o.tool, path, strings), theirs, strings)
        for gguf in o.gguf:
            name = os.path.basename(gguf)
            if not wanted(name):
                continue
            parts = parts_of(gguf_metadata(gguf))
            tok = hf_from_parts(parts)
            theirs = [tok.encode(s, add_special_tokens=False).ids for s in strings]
            path = os.path.join(folder, "hf.json")
            tok.save(path)
            good &= compare(f"{name}, tokenizer.json", our_ids(o.tool, path, strings), theirs, strings)
            path = os.path.join(folder, "parts.json")
            json.dump(parts, open(path, "w"))
            ours = our_ids(o.tool, path, strings)
            good &= compare(f"{name}, GGUF fields", ours, theirs, strings)
            try:
                here = os.path.dirname(os.path.abspath(__file__))  # holds a llama_cpp.py of its own
                sys.path[:] = [p for p in sys.path if os.path.abspath(p) != here]
                import llama_cpp
                model = llama_cpp.Llama(gguf, vocab_only=True, verbose=False)
                cpp = [model.tokenize(s.encode(), add_bos=False, special=False) for s in strings]
                compare(f"{name}, llama.cpp (for information)", ours, cpp, strings)
            except Exception as problem:  # not installed, or not for this machine
                print(f"{name}: llama_cpp not asked ({problem})")
    sys.exit(0 if good else 1)


def write_golden(folder, kind, tok, parts, strings, theirs):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, kind + ".json"), "w", encoding="utf-8") as out:
        out.write(json.dumps(json.loads(tok.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
    if parts:
        with open(os.path.join(folder, kind + ".parts.json"), "w", encoding="utf-8") as out:
            out.write(json.dumps(parts, ensure_ascii=False, separators=(",", ":")) + "\n")
    with open(os.path.join(folder, "strings.jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(text) + "\n" for text in strings)
    with open(os.path.join(folder, kind + ".ids"), "w", encoding="utf-8") as out:
        out.writelines(" ".join(map(str, ids)) + "\n" for ids in theirs)


if __name__ == "__main__":
    main()
