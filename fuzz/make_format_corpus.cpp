// Writes the corpus of fuzz_format: `make_format_corpus FOLDER`. A small valid file, cut at each
// boundary, and one copy for each field with an impossible value, checksums made right again so
// that the field itself is looked at.
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "format/model_writer.h"
#include "format/sample_model.h"

using laya::Status;
using laya::format::DirectoryRecord;
using laya::format::FileHeader;
using laya::format::Forgery;

namespace {

bool save(const std::string& path, std::span<const std::byte> bytes) {
  const Status written = laya::base::write_file(path, bytes);
  if (!written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
  }
  return written.has_value();
}

Status write_valid(const std::string& path) {
  auto writer = laya::format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  const std::array<std::uint32_t, 1> shape{2};
  const std::array<float, 2> values{1.5f, -2.0f};
  const std::array<std::byte, 3> blob{std::byte{'a'}, std::byte{0}, std::byte{0xFF}};
  if (Status done = writer->add_f32("w", shape, values); !done) return done;
  if (Status done = writer->add_blob("v", blob); !done) return done;
  const laya::format::Layout layout{laya::format::Element::PackedInt4, 2, 32, true, {1, 9}};
  const auto size = laya::format::tensor_bytes(layout);
  if (!size) return size.error();
  const std::vector<std::byte> bytes(*size, std::byte{7});
  if (Status done = writer->add_tensor("p", layout, bytes); !done) return done;
  if (Status done = writer->set_metadata(R"({"a":[1,{"b":"你"}]})"); !done) return done;
  return writer->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_format_corpus FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const std::string valid_path = folder + "valid";
  if (Status done = write_valid(valid_path); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  const std::string text = laya::base::read_file(valid_path, 1 << 20).value();
  const auto valid = std::as_bytes(std::span(text.data(), text.size()));
  bool good = true;

  for (const std::size_t size : {0u, 8u, 12u, 63u, 64u, 128u, 320u}) {
    good &= save(folder + "cut-" + std::to_string(size), valid.first(size));
  }
  good &= save(folder + "cut-last", valid.first(valid.size() - 1));
  const std::string longer = text + '\0';
  good &= save(folder + "longer", std::as_bytes(std::span(longer.data(), longer.size())));
  good &= save(folder + "foreign-gguf", std::as_bytes(std::span("GGUF\x03\x00\x00\x00", 8)));

  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  const std::pair<const char*, std::function<void(FileHeader&)>> headers[] = {
      {"magic", [](FileHeader& h) { h.magic[0] = 'L'; }},
      {"version", [](FileHeader& h) { h.version = 2; }},
      {"flags", [](FileHeader& h) { h.flags = 1; }},
      {"file-size", [](FileHeader& h) { h.file_size = kHuge; }},
      {"directory-offset-0", [](FileHeader& h) { h.directory_offset = 0; }},
      {"directory-offset-huge", [](FileHeader& h) { h.directory_offset = kHuge - 63; }},
      {"directory-offset-early",
       [](FileHeader& h) { h.directory_offset -= 64, h.directory_size += 64; }},
      {"directory-size-huge", [](FileHeader& h) { h.directory_size = kHuge; }},
      {"directory-size-short", [](FileHeader& h) { h.directory_size -= 1; }},
      {"entry-count-0", [](FileHeader& h) { h.entry_count = 0; }},
      {"entry-count-more", [](FileHeader& h) { h.entry_count += 1; }},
      {"entry-count-huge", [](FileHeader& h) { h.entry_count = ~0u; }},
      {"reserved", [](FileHeader& h) { h.reserved = 1; }},
  };
  for (const auto& [name, damage] : headers) {
    Forgery forgery(valid);
    FileHeader header = forgery.header();
    damage(header);
    forgery.set_header(header);
    if (std::string_view(name) != "magic") {
      forgery.seal();
    }
    good &= save(folder + "header-" + name, forgery.bytes());
  }
  // Records are sorted: 0 metadata.json, 1 p, 2 v, 3 w.
  const std::tuple<const char*, std::size_t, std::function<void(DirectoryRecord&)>> records[] = {
      {"offset-odd", 1, [](DirectoryRecord& r) { r.offset += 1; }},
      {"offset-0", 2, [](DirectoryRecord& r) { r.offset = 0; }},
      {"offset-huge", 3, [](DirectoryRecord& r) { r.offset = kHuge - 63; }},
      {"size-huge", 2, [](DirectoryRecord& r) { r.size = kHuge; }},
      {"size-wraps", 2, [](DirectoryRecord& r) { r.size = 0 - r.offset; }},
      {"size-less", 3, [](DirectoryRecord& r) { r.size -= 1; }},
      {"metadata-empty", 0, [](DirectoryRecord& r) { r.size = 0; }},
      {"metadata-huge", 0, [](DirectoryRecord& r) { r.size = kHuge; }},
      {"checksum", 1, [](DirectoryRecord& r) { r.checksum = 0; }},
      {"shape-0", 1, [](DirectoryRecord& r) { r.shape[1] = 0; }},
      {"shape-huge", 3,
       [](DirectoryRecord& r) {
         r.rank = 4, r.shape = {~0u, ~0u, ~0u, ~0u};
       }},
      {"packed-huge", 1, [](DirectoryRecord& r) { r.shape[0] = ~0u; }},
      {"name-0", 2, [](DirectoryRecord& r) { r.name_length = 0; }},
      {"name-long", 2, [](DirectoryRecord& r) { r.name_length = 65535; }},
      {"kind", 3, [](DirectoryRecord& r) { r.kind = 7; }},
      {"element", 3, [](DirectoryRecord& r) { r.element = 200; }},
      {"rank", 3, [](DirectoryRecord& r) { r.rank = 255; }},
      {"minima", 1, [](DirectoryRecord& r) { r.has_minima = 0; }},
      {"group", 1, [](DirectoryRecord& r) { r.group = 1; }},
      {"reserved", 1, [](DirectoryRecord& r) { r.reserved[0] = 1; }},
  };
  for (const auto& [name, index, damage] : records) {
    Forgery forgery(valid);
    DirectoryRecord record = forgery.record(index);
    damage(record);
    forgery.set_record(index, record);
    forgery.seal();
    good &= save(folder + "record-" + name, forgery.bytes());
  }
  return good ? 0 : 1;
}
