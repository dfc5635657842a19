// Writes `.laya` model files, streaming: a section is on its way to the disk when add_*() returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "format/element.h"
#include "format/model_file.h"

namespace laya::format {

/// Usage: create, add_tensor/add_blob in the order in which the kernels read them, set_metadata,
/// finish. Without finish() nothing is left behind and an existing file stays as it was. The same
/// calls give the same bytes: no clock, no random. One thread.
class ModelWriter {
 public:
  static Result<ModelWriter> create(const std::string& path);

  ModelWriter(ModelWriter&&) noexcept;
  ModelWriter& operator=(ModelWriter&&) noexcept;
  ~ModelWriter();

  /// `data` must be exactly the bytes that `layout` demands (tensor_bytes). Errors: BadArgument
  /// (name empty, longer than 255 bytes, not printable ASCII, or used before; size), TooLarge (a
  /// limit of FORMAT.md), Io.
  Status add_tensor(std::string_view name, const Layout& layout, std::span<const std::byte> data);
  /// F32 convenience: `shape` outermost first.
  Status add_f32(std::string_view name, std::span<const std::uint32_t> shape,
                 std::span<const float> data);
  Status add_blob(std::string_view name, std::span<const std::byte> data);

  /// The metadata: a JSON object as text (nlohmann: `json.dump()`). Checked as the reader will
  /// check it. Default "{}".
  Status set_metadata(std::string_view json);

  /// Writes metadata, directory and header, flushes and renames into place. The writer is spent
  /// afterwards.
  Status finish();

 private:
  struct Pending;
  ModelWriter(std::string path, base::AtomicFile file);
  Status add(std::string_view name, EntryKind kind, const Layout& layout,
             std::span<const std::byte> data);
  Status pad();

  std::string path_;
  base::AtomicFile file_;
  std::vector<Pending> pending_;
  std::set<std::string, std::less<>> names_;
  std::string metadata_ = "{}";
};

}  // namespace laya::format
