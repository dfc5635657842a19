#!/usr/bin/env python3
"""llama-cpp-python as a peer of `laya bench peers`: the same GGUF, threads and tokens, one token a call.

Reads one JSON command a line from standard input, answers one JSON object a line:
  {"do": "time", "tokens": [ids]}                  -> {"ms": [per token]}        the context goes on from call to call
  {"do": "clear"}                                  -> {}
  {"do": "greedy", "prompt": [ids], "count": n}    -> {"tokens": [ids]}          from an empty context
  {"do": "gaps", "prompt": [ids], "next": [ids], "pairs": [[place, a, b]]} -> {"gaps": [logit(a) - logit(b)]}
      after the prompt and `place` tokens of `next`; places ascending
n_batch is 1 throughout: llama.cpp's AMX path traps on some machines with more (and one token a call is what is compared).

usage: llama_cpp.py MODEL.gguf THREADS        exit code 3: llama_cpp is not installed
"""
import ctypes
import json
import sys
import time

# The folder of this file comes first in sys.path, and this file is called like the module.
sys.path = [path for path in sys.path[1:] if path]
try:
    import llama_cpp
except ImportError as error:
    print(json.dumps({"missing": str(error)}), flush=True)
    sys.exit(3)


class Peer:
    def __init__(self, path, threads):
        self.model = llama_cpp.Llama(path, n_ctx=2048, n_batch=1, n_ubatch=1, n_threads=threads, n_threads_batch=threads,
                                     verbose=False)
        self.context = self.model.ctx
        self.vocabulary = self.model.n_vocab()
        self.token = (llama_cpp.llama_token * 1)()
        self.decode([0])  # the first call maps pages and starts threads
        self.clear()

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def decode(self, tokens):
        for token in tokens:
            self.token[0] = token
            if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(self.token, 1)) != 0:
                raise RuntimeError("llama_decode failed")

    def logits(self):
        pointer = llama_cpp.llama_get_logits(self.context)
        return ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float * self.vocabulary)).contents

    def best(self):
        import numpy
        return int(numpy.argmax(numpy.ctypeslib.as_array(self.logits())))

    def time(self, tokens):
        times = []
        for token in tokens:
            start = time.perf_counter_ns()
            self.decode([token])
            self.logits()
            times.append((time.perf_counter_ns() - start) / 1e6)
        return {"ms": times}

    def greedy(self, prompt, count):
        self.clear()
        self.decode(prompt)
        tokens = []
        for _ in range(count):
            tokens.append(self.best())
            self.decode(tokens[-1:])
        return {"tokens": tokens}

    def gaps(self, prompt, next, pairs):
        self.clear()
        self.decode(prompt)
        read = 0
        gaps = []
        for place, a, b in pairs:
            self.decode(next[read:place])
            read = place
            logits = self.logits()
            gaps.append(logits[a] - logits[b])
        return {"gaps": gaps}


def main():
    peer = Peer(sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"version": llama_cpp.__version__, "vocabulary": peer.vocabulary}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        what = command.pop("do")
        if what == "time":
            answer = peer.time(**command)
        elif what == "clear":
            answer = peer.clear() or {}
        elif what == "greedy":
            answer = peer.greedy(**command)
        elif what == "gaps":
            answer = peer.gaps(**command)
        else:
            answer = {"error": "unknown command"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
