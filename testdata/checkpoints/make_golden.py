"""Writes the golden files of this folder with other people's writers and dequantisers, so that our readers are tested against
them and not only against our own test writers. Nothing here is needed to build or test Laya; run it again only to change a file:

    python3 -m venv v && v/bin/pip install numpy gguf safetensors 'mlx[cpu]' && v/bin/python make_golden.py
    python3 make_golden.py real_torch     (where PyTorch is)

All values come from a fixed seed: no weights of anybody.
"""
import collections
import io
import json
import os
import pickle
import struct
import sys
import types
import zipfile

import gguf
import mlx.core as mx
import numpy as np
import safetensors
from gguf import GGMLQuantizationType as Type

HERE = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(20260401)


def path(name):
    return os.path.join(HERE, name)


def blocks():
    """blocks.gguf: a tensor [2, 256] of each quantised type, of random bytes (every code and every 6-bit scale occurs) whose fp16
    fields are finite; blocks.f32: what the gguf package makes of them, tensors in the order of their names."""
    halves = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q4_K: [0, 2],
              Type.Q5_K: [0, 2], Type.Q6_K: [208]}
    writer = gguf.GGUFWriter(path("blocks.gguf"), "llama")
    expected = {}
    for kind, places in halves.items():
        values, size = gguf.GGML_QUANT_SIZES[kind]
        data = random.integers(0, 256, (2 * 256 // values, size), dtype=np.uint8)
        for place in places:
            half = (random.standard_normal(len(data)) * 0.05).astype(np.float16)
            half[0] = np.uint16(0x8001).view(np.float16)  # the smallest negative subnormal
            data[:, place:place + 2] = half.view(np.uint8).reshape(-1, 2)
        data = data.reshape(2, -1)
        writer.add_tensor(kind.name, data, raw_dtype=kind)
        expected[kind.name] = gguf.quants.dequantize(data, kind)
    bf16 = random.integers(0, 0x7F80, (2, 256), dtype=np.uint16)
    writer.add_tensor("BF16", bf16.view(np.uint8).reshape(2, -1), raw_dtype=Type.BF16)
    expected["BF16"] = (bf16.astype(np.uint32) << 16).view(np.float32)
    f16 = np.arange(0, 65536, 128, dtype=np.uint16).reshape(2, 256).view(np.float16)  # both signs, subnormals, infinities, NaN
    writer.add_tensor("F16", f16)
    expected["F16"] = f16.astype(np.float32)
    writer.add_uint8("t.u8", 200)
    writer.add_int8("t.i8", -100)
    writer.add_uint16("t.u16", 60000)
    writer.add_int16("t.i16", -30000)
    writer.add_uint32("t.u32", 4000000000)
    writer.add_int32("t.i32", -2000000000)
    writer.add_uint64("t.u64", 2**63 - 1)
    writer.add_int64("t.i64", -2**62)
    writer.add_float32("t.f32", 0.1)
    writer.add_float64("t.f64", 0.1)
    writer.add_bool("t.bool", True)
    writer.add_string("t.string", "你好, GGUF")
    writer.add_array("t.strings", ["a", "", "▁the"])
    writer.add_array("t.ints", [1, -2, 3])
    writer.add_array("t.floats", [0.5, -1.5])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with open(path("blocks.f32"), "wb") as out:
        for name in sorted(expected):
            out.write(expected[name].astype(np.float32).tobytes())


def plain():
    """plain.safetensors: written by the safetensors package: ramps that the test knows."""
    ramp = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
    bf16 = (ramp.view(np.uint32) >> 16).astype(np.uint16)
    tensors = {"f32": ("float32", ramp), "f16": ("float16", ramp.astype(np.float16)), "bf16": ("bfloat16", bf16),
               "i32": ("int32", np.arange(4, dtype=np.int32)), "scalar": ("float32", np.array(2.5, dtype=np.float32))}
    specs = {name: safetensors.TensorSpec(dtype=dtype, shape=list(array.shape), data_ptr=array.ctypes.data,
                                          data_len=array.nbytes) for name, (dtype, array) in tensors.items()}
    safetensors.serialize_file(specs, path("plain.safetensors"), {"format": "pt"})


def mlx():
    """mlx/: what mlx_lm.convert leaves: two quantised matrices of different bits and groups, a norm; mlx.f32: mx.dequantize of
    them in fp32 (a then b)."""
    os.makedirs(path("mlx"), exist_ok=True)
    mx.random.seed(7)
    tensors, expected = {}, []
    for name, bits, group in (("a", 4, 64), ("b", 8, 32)):
        words, scales, biases = mx.quantize(mx.random.normal((3, 128)) * 0.1, group, bits)
        scales, biases = scales.astype(mx.bfloat16), biases.astype(mx.bfloat16)
        tensors |= {f"{name}.weight": words, f"{name}.scales": scales, f"{name}.biases": biases}
        wide = mx.dequantize(words, scales.astype(mx.float32), biases.astype(mx.float32), group, bits)
        expected.append(np.array(wide))
    tensors["norm.weight"] = mx.array(np.linspace(0.5, 1.5, 128, dtype=np.float32)).astype(mx.bfloat16)
    mx.save_safetensors(path("mlx/model.safetensors"), tensors, {"format": "mlx"})
    with open(path("mlx/config.json"), "w") as out:
        json.dump({"model_type": "llama", "quantization": {"group_size": 64, "bits": 4, "b": {"group_size": 32, "bits": 8}}}, out)
    with open(path("mlx.f32"), "wb") as out:
        out.write(np.concatenate([e.ravel() for e in expected]).astype(np.float32).tobytes())


class Storage:
    def __init__(self, kind, key, count):
        self.kind, self.key, self.count = kind, key, count


class Tensor:
    def __init__(self, storage, offset, shape, strides):
        self.arguments = (storage, offset, shape, strides, False, collections.OrderedDict())

    def __reduce_ex__(self, protocol):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.arguments


def torch():
    """state.pt: the archive that torch.save makes, pickled by Python's own pickler with stand-ins for torch's classes."""
    module, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    sys.modules |= {"torch": module, "torch._utils": utils}

    def rebuild(*arguments):
        raise RuntimeError
    rebuild.__module__, rebuild.__qualname__, rebuild.__name__ = "torch._utils", "_rebuild_tensor_v2", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = rebuild
    for name in ("FloatStorage", "HalfStorage"):
        setattr(module, name, type(name, (), {"__module__": "torch"}))

    class Pickler(pickle._Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                return ("storage", value.kind, value.key, "cpu", value.count)

    wide = Storage(module.FloatStorage, "0", 12)
    state = collections.OrderedDict()
    state["wte.weight"] = Tensor(wide, 0, (3, 4), (4, 1))
    state["lm_head.weight"] = Tensor(wide, 0, (3, 4), (4, 1))  # tied
    state["norm.weight"] = Tensor(Storage(module.HalfStorage, "1", 300), 298, (2,), (1,))
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    stream = io.BytesIO()
    Pickler(stream, protocol=2).dump({"model": state, "iter_num": 70000, "best": 1.25, "args": {"dim": 4, "name": "x", "flag": None},
                                      "big": -2**40, "list": [1, 2]})
    with zipfile.ZipFile(path("state.pt"), "w") as archive:
        def add(name, data):
            archive.writestr(zipfile.ZipInfo(f"state/{name}"), data)
        add("data.pkl", stream.getvalue())
        add("byteorder", "little")
        add("data/0", np.arange(12, dtype=np.float32).tobytes())
        add("data/1", (np.arange(300) / 4).astype(np.float16).tobytes())
        add("version", "3\n")


def real_torch():
    """real_torch.pt: a training checkpoint saved by PyTorch itself (1.13), as nanoGPT and llama2.c save theirs."""
    import torch as real
    head = real.nn.Linear(4, 3, bias=False)
    head.weight.data = real.arange(12.0).reshape(3, 4)
    norm = real.nn.LayerNorm(4)
    norm.weight.data = real.tensor([0.5, 1.0, 1.5, -2.0])
    model = real.nn.ModuleDict({"head": head, "norm": norm})
    optimizer = real.optim.AdamW(model.parameters())
    model["head"](model["norm"](real.ones(4))).sum().backward()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    state["bf16"] = real.arange(6.0).bfloat16()
    optimizer.step()
    real.save({"model": state, "optimizer": optimizer.state_dict(), "iter_num": 5, "best_val_loss": real.tensor(1.5),
               "config": {"dim": 4, "name": None, "list": [1, "b", 2.5]}}, path("real_torch.pt"))


steps = {"blocks": blocks, "plain": plain, "mlx": mlx, "torch": torch, "real_torch": real_torch}
for name in sys.argv[1:] or ("blocks", "plain", "mlx", "torch"):
    steps[name]()
