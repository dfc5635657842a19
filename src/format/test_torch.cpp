// torch_bytes(): the zip and the pickle that torch.save writes for a state_dict.
#include <cstdlib>

#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

constexpr std::string_view kFolder = "archive/";

/// CRC-32 of zip (reflected 0x04C11DB7), bit by bit.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1u ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

class PickleWriter {
 public:
  std::string out = "\x80\x02";

  void text(std::string_view value) {
    out += 'X';
    append(out, static_cast<std::uint32_t>(value.size()));
    out += value;
    memoise();
  }
  void integer(std::uint64_t value) {
    if (value < 256) {
      out += 'K';
      out += static_cast<char>(value);
    } else if (value < 65536) {
      out += 'M';
      append(out, static_cast<std::uint16_t>(value));
    } else {
      out += 'J';
      append(out, static_cast<std::int32_t>(value));
    }
  }
  void name(std::string_view module, std::string_view attribute) {
    out += 'c';
    out += std::string(module) + '\n' + std::string(attribute) + '\n';
    memoise();
  }
  void tuple(std::span<const std::uint64_t> values) {
    out += '(';
    for (const std::uint64_t value : values) integer(value);
    out += 't';
    memoise();
  }
  void ordered_dict() {
    name("collections", "OrderedDict");
    out += ")R";
    memoise();
  }

 private:
  void memoise() {
    out += 'r';
    append(out, next_++);
  }
  std::uint32_t next_ = 0;
};

std::string_view storage_name(SourceType type) {
  switch (type) {
    case SourceType::F32:
      return "FloatStorage";
    case SourceType::F16:
      return "HalfStorage";
    case SourceType::BF16:
      return "BFloat16Storage";
    default:
      std::abort();
  }
}

}  // namespace

// Each entry is padded so that its data begins on a multiple of 64.
std::string zip_bytes(std::span<const std::pair<std::string, std::string>> entries) {
  std::string out;
  std::string directory;
  for (const auto& entry : entries) {
    const std::string& name = entry.first;  // no bindings: clang 14 cannot capture them
    const std::string& data = entry.second;
    const auto offset = static_cast<std::uint32_t>(out.size());
    const std::size_t before_data = out.size() + 30 + name.size() + 4;
    const auto padding = static_cast<std::uint16_t>((64 - before_data % 64) % 64);
    const auto common = [&](std::string& to, std::uint16_t extra) {
      append(to, std::uint16_t{0});  // flags
      append(to, std::uint16_t{0});  // stored
      append(to, std::uint32_t{0});  // time, date
      append(to, crc32(data));
      append(to, static_cast<std::uint32_t>(data.size()));
      append(to, static_cast<std::uint32_t>(data.size()));
      append(to, static_cast<std::uint16_t>(name.size()));
      append(to, extra);
    };
    out += "PK\x03\x04";
    append(out, std::uint16_t{20});
    common(out, static_cast<std::uint16_t>(padding + 4));
    out += name + "FB";
    append(out, padding);
    out.append(padding, 'Z');
    out += data;
    directory += "PK\x01\x02";
    append(directory, std::uint16_t{20});
    append(directory, std::uint16_t{20});
    common(directory, 0);
    append(directory, std::uint16_t{0});  // comment
    directory.append(2 + 2 + 4, '\0');    // disk, attributes
    append(directory, offset);
    directory += name;
  }
  const auto directory_offset = static_cast<std::uint32_t>(out.size());
  out += directory + "PK\x05\x06" + std::string(4, '\0');
  append(out, static_cast<std::uint16_t>(entries.size()));
  append(out, static_cast<std::uint16_t>(entries.size()));
  append(out, static_cast<std::uint32_t>(directory.size()));
  append(out, directory_offset);
  append(out, std::uint16_t{0});
  return out;
}

std::string torch_bytes(std::span<const TestTensor> tensors) {
  PickleWriter pickle;
  std::vector<std::pair<std::string, std::string>> entries(1);
  entries.push_back({std::string(kFolder) + "byteorder", "little"});
  pickle.ordered_dict();
  pickle.out += '(';
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TestTensor& tensor = tensors[i];
    std::vector<std::uint64_t> strides(tensor.shape.size(), 1);
    for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * tensor.shape[d];
    pickle.text(tensor.name);
    pickle.name("torch._utils", "_rebuild_tensor_v2");
    pickle.out += "((";
    pickle.text("storage");
    pickle.name("torch", storage_name(tensor.stored));
    pickle.text(std::to_string(i));
    pickle.text("cpu");
    pickle.integer(tensor.values.size());
    pickle.out += "tQ";
    pickle.integer(0);
    pickle.tuple(tensor.shape);
    pickle.tuple(strides);
    pickle.out += '\x89';
    pickle.ordered_dict();
    pickle.out += "tR";
    entries.push_back(
        {std::string(kFolder) + "data/" + std::to_string(i), encode(tensor.stored, tensor.values)});
  }
  pickle.out += "u.";
  entries.push_back({std::string(kFolder) + "version", "3\n"});
  entries[0] = {std::string(kFolder) + "data.pkl", pickle.out};
  return zip_bytes(entries);
}

}  // namespace laya::format
