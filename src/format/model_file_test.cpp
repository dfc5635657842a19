#include "format/model_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/checksum.h"
#include "format/metadata.h"
#include "format/sample_model.h"

namespace laya::format {
namespace {

constexpr const char* kFixture = LAYA_SOURCE_DIR "/testdata/format/v1_small.laya";

std::string fixture() { return base::read_file(kFixture, 1 << 20).value(); }

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

/// Index of the record named `name` (the directory is sorted).
std::size_t index_of(const Forgery& forgery, std::string_view name) {
  const auto file = ModelFile::parse(forgery.bytes(), Verify::Full, "fixture").value();
  return static_cast<std::size_t>(file.find(name) - file.entries().data());
}

TEST(ModelFile, TheFixtureOfVersion1LoadsForEver) {
  const Result<ModelFile> file = ModelFile::open(kFixture, Verify::Full);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->version(), 1u);
  ASSERT_EQ(file->entries().size(), 12u);
  const auto norm = file->tensor("norm.weight");
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm->as<float>()[5], 1e-3f);
  const auto embedding = file->tensor("embedding.weight");
  ASSERT_TRUE(embedding);
  EXPECT_EQ(embedding->layout, (Layout{Element::PackedInt8, 2, 32, true, {20, 40}}));
  EXPECT_EQ(embedding->data.size(), 2304u);
  EXPECT_EQ(file->blob("vocabulary")->size(), 14u);
  EXPECT_EQ(file->blob("empty")->size(), 0u);
  EXPECT_EQ(metadata(*file).value()["training"]["note"], "样本 sample");
}

TEST(ModelFile, TheWriterStillWritesTheFixtureByteForByte) {
  base::TestFolder folder;
  ASSERT_TRUE(write_sample_model(folder.file("m")));
  EXPECT_TRUE(base::read_file(folder.file("m"), 1 << 20).value() == fixture())
      << "version 1 is frozen: a change of the bytes needs a new version number and a new fixture";
}

TEST(ModelFile, LookupsNameTheFileAndTheTensor) {
  const Result<ModelFile> file = ModelFile::open(kFixture);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tensor("nope").error().message, std::string(kFixture) + ": no tensor \"nope\"");
  EXPECT_FALSE(file->tensor("vocabulary")) << "a blob is no tensor";
  EXPECT_FALSE(file->blob("ids")) << "a tensor is no blob";
  EXPECT_FALSE(file->has("nope"));
  const std::uint32_t shape[] = {7};
  const auto wrong = file->tensor("norm.weight", Element::F32, shape);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::Corrupt);
  EXPECT_EQ(wrong.error().message,
            std::string(kFixture) + ": \"norm.weight\": is f32 [6], must be f32 [7]");
}

TEST(ModelFile, SurvivesBeingMovedWithItsViews) {
  Result<ModelFile> file = ModelFile::open(kFixture);
  ASSERT_TRUE(file);
  const auto view = file->tensor("norm.weight").value();
  ModelFile moved = std::move(*file);
  EXPECT_EQ(moved.tensor("norm.weight")->data.data(), view.data.data());
  EXPECT_EQ(view.as<float>()[0], 1.0f);
  EXPECT_TRUE(moved.intact(*moved.find("cube")));
}

TEST(ModelFile, EveryTruncationIsAnError) {
  const std::string whole = fixture();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Forgery cut(bytes(whole).first(size));
    const auto file = ModelFile::parse(cut.bytes(), Verify::Structure, "cut.laya");
    ASSERT_FALSE(file) << size;
    ASSERT_EQ(file.error().code, ErrorCode::Corrupt);
    ASSERT_TRUE(file.error().message.starts_with("cut.laya: ")) << file.error().message;
  }
}

TEST(ModelFile, EveryFlippedBitIsFoundByFullVerification) {
  const std::string whole = fixture();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Forgery flipped(bytes(whole));
    for (unsigned bit = 0; bit < 8; ++bit) {
      flipped.bytes()[i] = static_cast<std::byte>(whole[i]) ^ static_cast<std::byte>(1u << bit);
      ASSERT_FALSE(ModelFile::parse(flipped.bytes(), Verify::Full, "f"))
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST(ModelFile, StructureVerificationLeavesTensorsToIntact) {
  const std::string whole = fixture();
  Forgery flipped(bytes(whole));
  const std::size_t index = index_of(flipped, "cube");
  flipped.bytes()[flipped.record(index).offset] ^= std::byte{1};
  const auto file = ModelFile::parse(flipped.bytes(), Verify::Structure, "f");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(file->intact(file->entries()[index]));
  const auto full = ModelFile::parse(flipped.bytes(), Verify::Full, "f");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "f: \"cube\": checksum does not match");
}

TEST(ModelFile, BytesAfterTheEndAreAnError) {
  const std::string longer = fixture() + "x";
  const Forgery forgery(bytes(longer));
  const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("file_size is"), std::string::npos) << file.error().message;
}

TEST(ModelFile, NamesForeignFiles) {
  struct Case {
    std::string start;
    const char* want;
  };
  const Case cases[] = {{"GGUF", "a GGUF file"},
                        {"PK\x03\x04", "a zip archive"},
                        {"version https://git-lfs.example/spec/v1", "a Git LFS pointer"},
                        {"\x89LAYA\n\x1A", "text-mode transfer"},
                        {"{\"a\": 1}", "not a .laya file"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const std::string padded = c.start + std::string(100, ' ');
    const Forgery forgery(bytes(padded));
    const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
    EXPECT_NE(file.error().message.find(c.want), std::string::npos) << file.error().message;
  }
}

TEST(ModelFile, AnotherVersionIsAVersionError) {
  Forgery forgery(bytes(fixture()));
  FileHeader header = forgery.header();
  header.version = 2;
  forgery.set_header(header);
  const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::Version);
  EXPECT_EQ(file.error().message, "f: format version 2, this build reads version 1");
}

// Each field of the header and of a record, set to something impossible, with all checksums made
// right again: the check of the field itself must answer, and must say which field it is.
TEST(ModelFile, EveryImpossibleHeaderFieldIsNamed) {
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  struct Case {
    const char* name;
    std::function<void(FileHeader&)> damage;
    const char* want;
  };
  const Case cases[] = {
      {"flags", [](FileHeader& h) { h.flags = 1; }, "flags 1"},
      {"reserved", [](FileHeader& h) { h.reserved = 9; }, "reserved 9"},
      {"file_size", [](FileHeader& h) { h.file_size -= 1; }, "file_size"},
      {"directory_offset 0", [](FileHeader& h) { h.directory_offset = 0; }, "directory"},
      {"directory_offset huge", [](FileHeader& h) { h.directory_offset = kHuge - 63; },
       "directory"},
      {"directory_offset odd",
       [](FileHeader& h) { h.directory_offset += 1, h.directory_size -= 1; }, "directory"},
      {"directory_offset early",
       [](FileHeader& h) { h.directory_offset -= 64, h.directory_size += 64; }, "f: "},
      {"directory_size short", [](FileHeader& h) { h.directory_size -= 1; }, "directory"},
      {"directory_size huge", [](FileHeader& h) { h.directory_size = kHuge; }, "directory"},
      {"entry_count 0", [](FileHeader& h) { h.entry_count = 0; }, "after the last name"},
      {"entry_count less", [](FileHeader& h) { h.entry_count -= 1; }, "entry"},
      {"entry_count more", [](FileHeader& h) { h.entry_count = 4000; }, "4000 entries do not fit"},
      {"entry_count limit", [](FileHeader& h) { h.entry_count = 65537; }, "the limit is 65536"},
  };
  const std::string whole = fixture();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Forgery forgery(bytes(whole));
    FileHeader header = forgery.header();
    c.damage(header);
    forgery.set_header(header);
    forgery.seal();
    const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
    EXPECT_NE(file.error().message.find(c.want), std::string::npos) << file.error().message;
  }
}

TEST(ModelFile, EveryImpossibleRecordFieldIsNamed) {
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  struct Case {
    const char* name;
    const char* entry;
    std::function<void(DirectoryRecord&)> damage;
    const char* want;
  };
  const Case cases[] = {
      {"offset odd", "cube", [](DirectoryRecord& r) { r.offset += 1; }, "expected at"},
      {"offset into the header", "cube", [](DirectoryRecord& r) { r.offset = 0; }, "expected at"},
      {"offset overlapping", "cube", [](DirectoryRecord& r) { r.offset -= 64; }, "expected at"},
      {"offset huge", "cube", [](DirectoryRecord& r) { r.offset = kHuge - 63; }, "expected at"},
      {"offset past the end", "cube", [](DirectoryRecord& r) { r.offset = 1 << 30; },
       "expected at"},
      {"size of a tensor", "cube", [](DirectoryRecord& r) { r.size += 64; }, "demands 60"},
      {"size of a blob", "vocabulary", [](DirectoryRecord& r) { r.size += 64; }, "expected at"},
      {"size huge", "vocabulary", [](DirectoryRecord& r) { r.size = kHuge; }, "vocabulary"},
      {"size so that the end wraps", "vocabulary",
       [](DirectoryRecord& r) { r.size = 0 - r.offset; }, "vocabulary"},
      {"empty blob made large", "empty", [](DirectoryRecord& r) { r.size = 1; }, "expected at"},
      {"shape", "cube", [](DirectoryRecord& r) { r.shape[0] = 3; }, "demands"},
      {"shape zero", "cube", [](DirectoryRecord& r) { r.shape[1] = 0; }, "dimension 1"},
      {"shape huge", "cube",
       [](DirectoryRecord& r) {
         r.shape = {~0u, ~0u, ~0u, 0};
       },
       "larger than"},
      {"name_length 0", "cube", [](DirectoryRecord& r) { r.name_length = 0; }, "name of 0"},
      {"name_length long", "cube", [](DirectoryRecord& r) { r.name_length = 256; }, "name of 256"},
      {"name_length huge", "cube", [](DirectoryRecord& r) { r.name_length = 65535; },
       "name of 65535"},
      {"name shifted", "cube", [](DirectoryRecord& r) { r.name_length = 5; }, "f: "},
      {"kind", "cube", [](DirectoryRecord& r) { r.kind = 2; }, "kind 2"},
      {"tensor as blob", "cube", [](DirectoryRecord& r) { r.kind = 0; }, "a blob has no"},
      {"blob as tensor", "vocabulary", [](DirectoryRecord& r) { r.kind = 1; }, "no tensor's"},
      {"element unknown", "cube", [](DirectoryRecord& r) { r.element = 77; }, "element type 77"},
      {"element other", "cube", [](DirectoryRecord& r) { r.element = 1; }, "demands 120"},
      {"rank 0", "cube", [](DirectoryRecord& r) { r.rank = 0; }, "rank 0"},
      {"rank 5", "cube", [](DirectoryRecord& r) { r.rank = 5; }, "rank 5"},
      {"minima 2", "embedding.weight", [](DirectoryRecord& r) { r.has_minima = 2; }, "has_minima"},
      {"minima off", "embedding.weight", [](DirectoryRecord& r) { r.has_minima = 0; }, "demands"},
      {"group 31", "embedding.weight", [](DirectoryRecord& r) { r.group = 31; }, "group 31"},
      {"group 128", "embedding.weight", [](DirectoryRecord& r) { r.group = 128; }, "demands"},
      {"group of f16", "cube", [](DirectoryRecord& r) { r.group = 32; }, "not quantised"},
      {"reserved", "cube", [](DirectoryRecord& r) { r.reserved[15] = 1; }, "reserved"},
      {"metadata not a blob", "metadata.json", [](DirectoryRecord& r) { r.kind = 1; },
       "metadata.json"},
  };
  const std::string whole = fixture();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Forgery forgery(bytes(whole));
    const std::size_t index = index_of(forgery, c.entry);
    DirectoryRecord record = forgery.record(index);
    c.damage(record);
    forgery.set_record(index, record);
    forgery.seal();
    const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
    EXPECT_NE(file.error().message.find(c.want), std::string::npos) << file.error().message;
  }
}

TEST(ModelFile, BadMetadataIsNamed) {
  struct Case {
    const char* name;
    std::string start;
    const char* want;
  };
  const Case cases[] = {{"not JSON", "x", "not JSON at byte 1"},
                        {"not UTF-8", "{\"\xFF", "not JSON at byte"},
                        {"nested", std::string(40, '['), "deeper than 32"}};
  const std::string whole = fixture();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Forgery forgery(bytes(whole));
    const std::size_t index = index_of(forgery, kMetadataName);
    std::memcpy(forgery.bytes().data() + forgery.record(index).offset, c.start.data(),
                c.start.size());
    const auto unsealed = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
    ASSERT_FALSE(unsealed);
    EXPECT_EQ(unsealed.error().message, "f: \"metadata.json\": checksum does not match");
    forgery.seal();
    const auto file = ModelFile::parse(forgery.bytes(), Verify::Structure, "f");
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find(c.want), std::string::npos) << file.error().message;
  }
}

TEST(ModelFile, PaddingMustBeZero) {
  Forgery forgery(bytes(fixture()));
  const DirectoryRecord record = forgery.record(index_of(forgery, "norm.weight"));
  forgery.bytes()[record.offset + record.size] = std::byte{1};
  EXPECT_TRUE(ModelFile::parse(forgery.bytes(), Verify::Structure, "f"));
  const auto full = ModelFile::parse(forgery.bytes(), Verify::Full, "f");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("padding"), std::string::npos);
}

TEST(ModelFile, BytesOffTheBoundaryAreTheCallersMistake) {
  const Forgery forgery(bytes(fixture()));
  const auto file = ModelFile::parse(forgery.bytes().subspan(1), Verify::Structure, "f");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::BadArgument);
}

TEST(ModelFile, OpeningWhatIsNoModelSaysSo) {
  base::TestFolder folder;
  ASSERT_TRUE(base::write_file(folder.file("empty"), ""));
  const auto empty = ModelFile::open(folder.file("empty"));
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message,
            folder.file("empty") + ": 0 bytes, a .laya file has at least 64");
  EXPECT_EQ(ModelFile::open(folder.file("none")).error().code, ErrorCode::Io);
  EXPECT_EQ(ModelFile::open(folder.path().string()).error().code, ErrorCode::Io);
}

TEST(Checksum, IsXxh3WithSeedZero) {
  // Vector of the reference implementation: XXH3_64bits of the empty input.
  EXPECT_EQ(checksum({}), 0x2D06800538D394C2u);
}

}  // namespace
}  // namespace laya::format
