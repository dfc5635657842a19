// The golden vectors that tie all backends and all machines together: testdata/model/tiny.laya with
// what the reference backend computes from it. Only tests and the generator (make_tiny_model.cpp)
// use this.
//
// A text file: "laya-golden 1", "regenerate <command>", then for each tensor "tensor <name>
// <count>" and its numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/gru/language_model.h"

namespace laya::model {

inline constexpr std::uint64_t kGoldenSeed = 20261129;
inline constexpr const char* kGoldenRegenerate = "build/release/bin/make_tiny_model testdata/model";

using GoldenTensors = std::map<std::string, std::vector<float>>;

/// What a model computes over a fixed sequence of 14 tokens: step<i>.output [e] for each, the last
/// step's layer<l>.h [d] and scores [V], and its log normaliser.
Result<GoldenTensors> compute_golden(const LanguageModel& model);

std::string write_golden(const GoldenTensors& tensors);
/// Corrupt or Version with the line's number.
Result<GoldenTensors> read_golden(const std::string& text);

/// Empty when every number of `got` is within absolute + relative * |want|; else "tensor t, index
/// i: got x, want y" for the worst one and how to regenerate.
std::string golden_mismatch(const GoldenTensors& want, const GoldenTensors& got, float absolute,
                            float relative);

}  // namespace laya::model
