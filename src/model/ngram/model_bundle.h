// One `.laya` file with whatever it holds: a network with its vocabulary, an n-gram table, or both.
// What Engine::open asks for, so that rooms above need not know the file format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "model/core/backend.h"
#include "model/gru/language_model.h"
#include "model/ngram/ngram.h"

namespace laya::model {

/// Owns the mapped file and what views it. Move-only; moving keeps every pointer valid. Const
/// members: any thread.
class ModelBundle {
 public:
  /// Maps `path` and opens every part found, the network on `backend` (none is needed for a table
  /// alone). Errors: Io, Version, Corrupt, Unsupported (as format::ModelFile::open,
  /// load_language_model and NgramModel::open say), BadArgument where the file holds neither part.
  static Result<ModelBundle> open(const std::string& path, const Backend& backend = {});

  ModelBundle(ModelBundle&&) noexcept;
  ModelBundle& operator=(ModelBundle&&) noexcept;
  ~ModelBundle();

  const LanguageModel* network() const;  ///< nullptr without one
  const NgramModel* ngrams() const;      ///< nullptr without one
  /// Bytes of the blob "vocabulary" (text::Vocabulary::parse reads it); empty without one.
  std::span<const std::byte> vocabulary() const;

 private:
  struct Parts;
  explicit ModelBundle(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::model
