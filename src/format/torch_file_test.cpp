#include "format/torch_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/allocation_counter.h"
#include "format/pickled_tensors.h"
#include "format/stored_zip.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

Result<TorchFile> parse(const std::string& bytes) {
  return TorchFile::parse(std::as_bytes(std::span(bytes)), "input");
}

/// "input" with a pickle alone: what the interpreter says to it.
Error pickle_error(const std::string& pickle) {
  const auto read = read_pickled_tensors(std::as_bytes(std::span(pickle)), "p");
  EXPECT_FALSE(read.has_value());
  return read ? Error{} : read.error();
}

TEST(TorchFile, ReadsAnArchivePickledByPython) {
  const auto file =
      TorchFile::open(std::string(LAYA_SOURCE_DIR) + "/testdata/checkpoints/state.pt");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 3u);
  const SourceTensor* wte = file->find_tensor("model.wte.weight");
  const SourceTensor* head = file->find_tensor("model.lm_head.weight");
  const SourceTensor* norm = file->find_tensor("model.norm.weight");
  ASSERT_TRUE(wte != nullptr && head != nullptr && norm != nullptr);
  EXPECT_EQ(wte->shape, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(wte->bytes.data(), head->bytes.data());  // tied: one storage
  std::vector<float> values(4);
  ASSERT_TRUE(read_rows(*wte, 1, 1, values).has_value());
  EXPECT_EQ(values, (std::vector<float>{4, 5, 6, 7}));
  values.resize(2);
  ASSERT_TRUE(read_rows(*norm, 0, 1, values).has_value());
  EXPECT_EQ(values, (std::vector<float>{74.5f, 74.75f}));  // from an offset in its storage
}

TEST(TorchFile, ReadsATrainingCheckpointSavedByPyTorch) {
  const auto file =
      TorchFile::open(std::string(LAYA_SOURCE_DIR) + "/testdata/checkpoints/real_torch.pt");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 14u);  // the model's 4, the optimiser's 9, best_val_loss
  const auto row = [&](const char* name, std::uint64_t index) {
    const SourceTensor* found = file->find_tensor(name);
    EXPECT_NE(found, nullptr) << name;
    std::vector<float> values(found == nullptr ? 0 : found->columns());
    if (found != nullptr) {
      EXPECT_TRUE(read_rows(*found, index, 1, values).has_value());
    }
    return values;
  };
  EXPECT_EQ(row("model.head.weight", 2), (std::vector<float>{8, 9, 10, 11}));
  EXPECT_EQ(row("model.norm.weight", 0), (std::vector<float>{0.5f, 1, 1.5f, -2}));
  EXPECT_EQ(row("model.bf16", 0), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(row("best_val_loss", 0), (std::vector<float>{1.5f}));
}

TEST(TorchFile, ReadsTheStateDictOfTheTestWriter) {
  const std::vector<TestTensor> tensors = {test_tensor("a.weight", {3, 70}),
                                           test_tensor("b", {2, 3, 4}, SourceType::F16),
                                           test_tensor("c.bias", {300}, SourceType::BF16)};
  const std::string bytes = torch_bytes(tensors);
  const auto file = parse(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 3u);
  for (const TestTensor& made : tensors) {
    const SourceTensor* found = file->find_tensor(made.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->shape, made.shape);
    const std::string want = encode(made.stored, made.values);
    EXPECT_EQ(
        std::string_view(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size()),
        want);
  }
}

// The promise that matters most: a pickle that asks for code gets an error, with the name and the
// way out, and nothing has happened.
TEST(TorchFile, RefusesEveryNameThatNoStateDictNeeds) {
  for (const char* name :
       {"os\nsystem", "posix\nsystem", "builtins\neval", "builtins\nexec", "__builtin__\neval",
        "subprocess\nPopen", "torch\nload", "torch._utils\n_rebuild_sparse_tensor",
        "collections\nordereddict", "torch\nFloatStorage ", "numpy.core.multiarray\nscalar"}) {
    const Error error = pickle_error(
        "\x80\x02"
        "c" +
        std::string(name) + "\nX\x02\x00\x00\x00id\x85R.");
    EXPECT_EQ(error.code, ErrorCode::Unsupported) << name;
    EXPECT_NE(error.message.find("never run"), std::string::npos) << error.message;
  }
  EXPECT_EQ(pickle_error("\x80\x04\x8C\x02os\x8C\x06system\x93.").code, ErrorCode::Unsupported);
}

TEST(TorchFile, RefusesOpcodesThatBuildOrImport) {
  for (const char* opcodes :
       {"ios\nsystem\n.", "(c__main__\nX\no.", "\x81.", "\x92.", "\x82\x01.", "\x83\x01\x00.",
        "I1\n.", "Sx\n.", "Vx\n.", "Px\n.", "d.", "l.", "0.", "1.", "2."}) {
    EXPECT_EQ(pickle_error(std::string("\x80\x02") + opcodes).code, ErrorCode::Unsupported)
        << opcodes;
  }
}

TEST(TorchFile, RefusesBrokenPickles) {
  struct Case {
    const char* name;
    std::string pickle;
    ErrorCode code = ErrorCode::Corrupt;
  };
  const auto text = [](const char* bytes, std::size_t size) { return std::string(bytes, size); };
  const Case cases[] = {
      {"empty", ""},
      {"no stop", "\x80\x02}"},
      {"stops with nothing", ".", ErrorCode::Unsupported},
      {"a number", "K\x01.", ErrorCode::Unsupported},
      {"empty stack", "\x85."},
      {"no mark", "t."},
      {"open mark", "}(."},
      {"appends to nothing",
       "K\x01"
       "a."},
      {"odd items", "}(K\x01u."},
      {"key into a list", "]K\x01K\x02s."},
      {"below the mark", "}(K\x01sK\x02u."},
      {"unknown memo", "h\x07."},
      {"memo of nothing", "q\x01."},
      {"calls a number", "K\x01)R.", ErrorCode::Unsupported},
      {"calls without a tuple", "ccollections\nOrderedDict\n}R."},
      {"OrderedDict of something", "ccollections\nOrderedDict\nK\x01\x85R.",
       ErrorCode::Unsupported},
      {"attributes of a number", "K\x01}b.", ErrorCode::Unsupported},
      {"endless name", "ccollections"},
      {"long text", text("X\xFF\xFF\xFF\xFFxy", 7)},
      {"longer text", text("\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFxy", 11)},
      {"protocol 9", "\x80\x09}.", ErrorCode::Unsupported},
      {"integer of 200 bytes", "\x8A\xC8", ErrorCode::Unsupported},
      {"a storage of nothing", "}Q.", ErrorCode::Unsupported},
      {"a parameter of a dictionary", "ctorch._utils\n_rebuild_parameter\n}\x89}\x87R.",
       ErrorCode::Unsupported},
      {"a tensor of nothing", "ctorch._utils\n_rebuild_tensor_v2\n)R.", ErrorCode::Unsupported},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const Error error = pickle_error(one.pickle);
    EXPECT_EQ(error.code, one.code) << error.message;
    EXPECT_TRUE(error.message.starts_with("p: ")) << error.message;
  }
}

/// A key of one letter.
std::string letter(char c) {
  std::string out = "X";
  append(out, std::uint32_t{1});
  return out + c;
}

/// A dictionary of 200 entries, all of them the same dictionary of the level below; remembered.
std::string tower(char level) {
  std::string out = "}q" + std::string(1, level);
  if (level == 1) return out;
  out += '(';
  for (int i = 0; i < 200; ++i) {
    out += "K" + std::string(1, static_cast<char>(i));
    out += i == 0 ? tower(static_cast<char>(level - 1))
                  : "h" + std::string(1, static_cast<char>(level - 1));
  }
  return out + "u";
}

TEST(TorchFile, IsNotHeldUpByCirclesAndRepetition) {
  const Error circle = pickle_error("}q\x01" + letter('a') + "h\x01s.");  // holds itself
  EXPECT_EQ(circle.code, ErrorCode::Unsupported);
  EXPECT_NE(circle.message.find("4 deep"), std::string::npos) << circle.message;
  EXPECT_EQ(pickle_error(tower(4) + ".").code, ErrorCode::TooLarge);  // 8 million paths
  EXPECT_EQ(pickle_error(tower(5) + ".").code, ErrorCode::Unsupported);
}

TEST(TorchFile, RefusesMillionsOfValues) {
  const std::string many(3u << 20, ')');
  EXPECT_EQ(pickle_error(many).code, ErrorCode::TooLarge);
  EXPECT_EQ(pickle_error(std::string(3u << 20, '(')).code, ErrorCode::TooLarge);
}

TEST(TorchFile, RefusesEveryTruncationAndEveryDamagedByteOfTheDirectorySafely) {
  const std::vector<TestTensor> tensors = {test_tensor("a", {2, 3}), test_tensor("b", {4})};
  const std::string bytes = torch_bytes(tensors);
  ASSERT_TRUE(parse(bytes).has_value());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    ASSERT_FALSE(parse(cut).has_value()) << size;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\0', '\x7F', '\xFF'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      const auto file = parse(damaged);
      if (!file) continue;
      for (const SourceTensor& tensor : file->tensors()) {
        std::vector<float> values(tensor.elements());
        (void)read_rows(tensor, 0, tensor.rows(), values);
      }
    }
  }
}

TEST(TorchFile, SaysHowToConvertWhatItDoesNotRead) {
  const auto legacy = parse("\x80\x02" + std::string(60, 'x'));  // begins with its magic, pickled
  ASSERT_FALSE(legacy.has_value());
  EXPECT_EQ(legacy.error().code, ErrorCode::Unsupported);
  EXPECT_NE(legacy.error().message.find("before 1.6"), std::string::npos);
  EXPECT_NE(legacy.error().message.find("python -c"), std::string::npos);
  const std::string good = torch_bytes(std::vector<TestTensor>{test_tensor("a", {2})});
  std::string compressed = good;
  const std::size_t record = compressed.find("PK\x01\x02");
  compressed[record + 10] = 8;
  const auto file = parse(compressed);
  EXPECT_EQ(file.error().code, ErrorCode::Unsupported);
  EXPECT_NE(file.error().message.find("compressed"), std::string::npos);
  EXPECT_NE(file.error().message.find("python -c"), std::string::npos);
}

TEST(TorchFile, RefusesTensorsThatLeaveTheirStorageOrAreViews) {
  const std::string good = torch_bytes(std::vector<TestTensor>{test_tensor("a", {2, 3})});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    bytes.replace(at, from.size(), to);
    const auto file = parse(bytes);
    EXPECT_FALSE(file.has_value());
    return file ? Error{} : file.error();
  };
  using namespace std::string_literals;
  EXPECT_NE(with("(K\x02K\x03t", "(K\x02K\x04t").message.find("not contiguous"), std::string::npos);
  EXPECT_EQ(with("(K\x03K\x01t", "(K\x01K\x02t").code, ErrorCode::Unsupported);
  EXPECT_NE(with("(K\x02K\x03t", "(K\x03K\x03t").message.find("of a storage of 6"),
            std::string::npos);
  EXPECT_NE(with("tQK\0"s, "tQK\x01").message.find("1 of a storage of 6"), std::string::npos);
  EXPECT_NE(with("(K\x02K\x03t", "(K\0K\x03t"s).message.find("dimension of 0"), std::string::npos);
  EXPECT_NE(with("K\x06tQ", "K\x07tQ").message.find("24 bytes"), std::string::npos);
  EXPECT_NE(with("little", "biggie").message.find("byte order"), std::string::npos);
}

TEST(StoredZip, FindsEntriesAndRefusesWhatIsNotWhereItSays) {
  const std::string good = torch_bytes(std::vector<TestTensor>{test_tensor("a", {2})});
  const auto entries = read_stored_zip(std::as_bytes(std::span(good)), "zip");
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_EQ(entries->size(), 4u);
  EXPECT_EQ((*entries)[0].name, "archive/byteorder");
  EXPECT_EQ((*entries)[3].name, "archive/version");
  EXPECT_EQ((*entries)[3].data.size(), 2u);
  const auto damaged = [&](std::size_t at, std::uint32_t value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, 4);
    return read_stored_zip(std::as_bytes(std::span(bytes)), "zip");
  };
  const std::size_t record = good.find("PK\x01\x02");
  const std::size_t end = good.find("PK\x05\x06");
  EXPECT_FALSE(damaged(record + 42, 1).has_value());           // offset of the local header
  EXPECT_FALSE(damaged(record + 42, 0xFFFFFFFE).has_value());  // beyond the end
  EXPECT_FALSE(damaged(record + 24, 0x7FFFFFFF).has_value());  // size
  EXPECT_FALSE(damaged(record + 42, 0xFFFFFFFF).has_value() &&
               damaged(record + 24, 0xFFFFFFFF).has_value());  // zip64 without its field
  EXPECT_FALSE(damaged(end + 16, 0xFFFFFFFF).has_value());     // zip64 without its end record
  EXPECT_FALSE(damaged(end + 12, 0xFFFFFFF0).has_value());     // directory size
  const base::AllocationScope scope;
  EXPECT_FALSE(damaged(end + 10, 0x0000FFFE).has_value());  // 65,534 entries
  EXPECT_LT(scope.bytes(), 65536u);
}

}  // namespace
}  // namespace laya::format
