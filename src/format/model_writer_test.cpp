#include "format/model_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/test_folder.h"
#include "format/metadata.h"
#include "format/sample_model.h"

namespace laya::format {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

TEST(ModelWriter, WritesWhatTheReaderReads) {
  base::TestFolder folder;
  const std::string path = folder.file("m.laya");
  Result<ModelWriter> writer = ModelWriter::create(path);
  ASSERT_TRUE(writer);
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const std::array<std::uint32_t, 2> shape{2, 3};
  ASSERT_TRUE(writer->add_f32("w", shape, values));
  ASSERT_TRUE(writer->add_blob("vocabulary", bytes("one\ntwo\n")));
  ASSERT_TRUE(writer->set_metadata(R"({"licence": "CC0-1.0"})"));
  ASSERT_TRUE(writer->finish());

  Result<ModelFile> file = ModelFile::open(path, Verify::Full);
  ASSERT_TRUE(file) << file.error().message;
  const Result<TensorView> tensor = file->tensor("w", Element::F32, shape);
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data.data()) % 64, 0u);
  EXPECT_TRUE(std::ranges::equal(tensor->as<float>(), values));
  EXPECT_EQ(file->blob("vocabulary")->size(), 8u);
  EXPECT_EQ(metadata(*file).value()["licence"], "CC0-1.0");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(ModelWriter, WithoutMetadataWritesAnEmptyObject) {
  base::TestFolder folder;
  Result<ModelWriter> writer = ModelWriter::create(folder.file("m"));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->finish());
  const Result<ModelFile> file = ModelFile::open(folder.file("m"), Verify::Full);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata_json(), "{}");
  EXPECT_EQ(file->entries().size(), 1u);
}

TEST(ModelWriter, GivesTheSameBytesEachTime) {
  base::TestFolder folder;
  ASSERT_TRUE(write_sample_model(folder.file("a")));
  ASSERT_TRUE(write_sample_model(folder.file("b")));
  EXPECT_EQ(base::read_file(folder.file("a"), 1 << 20).value(),
            base::read_file(folder.file("b"), 1 << 20).value());
}

TEST(ModelWriter, LeavesNothingWithoutFinish) {
  base::TestFolder folder;
  {
    Result<ModelWriter> writer = ModelWriter::create(folder.file("m"));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add_blob("b", bytes("x")));
  }
  EXPECT_EQ(folder.count(), 0u);
}

TEST(ModelWriter, RefusesWhatTheReaderWouldRefuse) {
  base::TestFolder folder;
  Result<ModelWriter> writer = ModelWriter::create(folder.file("m"));
  ASSERT_TRUE(writer);
  const std::array<float, 2> two{1, 2};
  const std::array<std::uint32_t, 1> three{3};
  const std::array<std::uint32_t, 5> five{1, 1, 1, 1, 2};
  EXPECT_EQ(writer->add_f32("w", three, two).error().code, ErrorCode::BadArgument) << "size";
  EXPECT_FALSE(writer->add_f32("w", five, two)) << "rank";
  EXPECT_FALSE(writer->add_blob("", bytes("x")));
  EXPECT_FALSE(writer->add_blob(std::string(256, 'n'), bytes("x")));
  EXPECT_FALSE(writer->add_blob("new\nline", bytes("x")));
  EXPECT_FALSE(writer->add_blob("caf\xC3\xA9", bytes("x")));
  EXPECT_FALSE(writer->add_blob("metadata.json", bytes("{}")));
  EXPECT_TRUE(writer->add_blob(std::string(255, 'n'), bytes("x")));
  EXPECT_FALSE(writer->add_blob(std::string(255, 'n'), bytes("x"))) << "twice";
  EXPECT_FALSE(writer->set_metadata("[]"));
  EXPECT_FALSE(writer->set_metadata("{"));
  EXPECT_EQ(
      writer->set_metadata("{\"a\": \"" + std::string(kMaxMetadataBytes, 'x') + "\"}").error().code,
      ErrorCode::TooLarge);
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(ModelFile::open(folder.file("m"), Verify::Full));
  EXPECT_FALSE(writer->finish()) << "spent";
}

TEST(ModelWriter, AMissingFolderIsAnIoError) {
  base::TestFolder folder;
  const Result<ModelWriter> writer = ModelWriter::create(folder.file("no/m"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace laya::format
