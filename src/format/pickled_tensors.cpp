#include "format/pickled_tensors.h"

#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"

namespace laya::format {
namespace {

constexpr std::size_t kMaxValues = 2u << 20;  // a state_dict of 65,536 tensors makes 1.3 million
constexpr std::size_t kMaxDescribed = 4 * kMaxSourceTensors;  // storages and tensors
constexpr unsigned kMaxDepth = 4;
constexpr std::size_t kMaxVisits = 1u << 20;

using ValueId = std::uint32_t;

enum class Kind : std::uint8_t {
  None,
  Bool,
  Integer,
  Float,
  Text,
  Tuple,
  List,
  Dictionary,
  StorageType,  ///< torch.FloatStorage …: `type`
  Storage,      ///< `storages_[number]`
  Tensor,       ///< `tensors_[number]`
  RebuildTensor,
  RebuildParameter,
  OrderedDict,  ///< the names that may be "called"
};

struct Value {
  Kind kind = Kind::None;
  SourceType type = SourceType::F32;
  std::int64_t number = 0;     ///< Bool, Integer, or an index
  std::string_view text;       ///< Text
  std::vector<ValueId> items;  ///< Tuple, List; Dictionary: key, value, key, value …
};

struct KnownName {
  std::string_view module;
  std::string_view name;
  Kind kind;
  SourceType type = SourceType::F32;
};
constexpr KnownName kNames[] = {
    {"collections", "OrderedDict", Kind::OrderedDict},
    {"torch._utils", "_rebuild_tensor_v2", Kind::RebuildTensor},
    {"torch._utils", "_rebuild_parameter", Kind::RebuildParameter},
    {"torch", "FloatStorage", Kind::StorageType, SourceType::F32},
    {"torch", "HalfStorage", Kind::StorageType, SourceType::F16},
    {"torch", "BFloat16Storage", Kind::StorageType, SourceType::BF16},
    {"torch", "DoubleStorage", Kind::StorageType, SourceType::F64},
    {"torch", "CharStorage", Kind::StorageType, SourceType::I8},
    {"torch", "ByteStorage", Kind::StorageType, SourceType::U8},
    {"torch", "ShortStorage", Kind::StorageType, SourceType::I16},
    {"torch", "IntStorage", Kind::StorageType, SourceType::I32},
    {"torch", "LongStorage", Kind::StorageType, SourceType::I64},
    {"torch", "BoolStorage", Kind::StorageType, SourceType::Bool},
};

class Interpreter {
 public:
  Interpreter(std::span<const std::byte> bytes, std::string_view name)
      : reader_(bytes), bytes_(bytes), name_(name) {}

  Result<std::vector<PickledTensor>> run() {
    bool stopped = false;
    while (!stopped) {
      const std::size_t at = reader_.position();
      at_ = at;
      const std::uint8_t opcode = reader_.u8("an opcode");
      if (!reader_.failed()) {
        step(opcode, stopped);
      }
      if (error_) {
        return *error_;
      }
      if (Status fits = reader_.status(name_); !fits) {
        return fits.error();
      }
      if (values_.size() > kMaxValues || tensors_.size() > kMaxDescribed) {
        return Error{ErrorCode::TooLarge, name_ + ": more than " + std::to_string(kMaxValues) +
                                              " values or " + std::to_string(kMaxDescribed) +
                                              " tensors and storages: no state_dict"};
      }
    }
    if (stack_.size() != 1 || values_[stack_[0]].kind != Kind::Dictionary) {
      return Error{ErrorCode::Unsupported, name_ + ": holds no dictionary of tensors"};
    }
    collect(stack_[0], "", kMaxDepth);
    if (error_) {
      return *error_;
    }
    return std::move(found_);
  }

 private:
  // Failing. The first error is kept; everything after it is harmless and ends at the next check.
  void fail(ErrorCode code, std::string what) {
    if (!error_) {
      error_ = Error{code, name_ + ": byte " + std::to_string(at_) + ": " + std::move(what)};
    }
  }
  void corrupt(std::string what) { fail(ErrorCode::Corrupt, std::move(what)); }
  void unsupported(std::string what) { fail(ErrorCode::Unsupported, std::move(what)); }

  // The stack.
  ValueId make(Value value) {
    values_.push_back(std::move(value));
    return static_cast<ValueId>(values_.size() - 1);
  }
  void push(Value value) { stack_.push_back(make(std::move(value))); }
  void push_number(Kind kind, std::int64_t number) {
    Value value;
    value.kind = kind;
    value.number = number;
    push(std::move(value));
  }
  void push_text(std::string_view text) {
    Value value;
    value.kind = Kind::Text;
    value.text = text;
    push(std::move(value));
  }
  /// What lies above the last mark (or above nothing) may be taken: index of the lowest such.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::optional<ValueId> pop() {
    if (stack_.size() <= floor()) {
      corrupt("takes from an empty stack");
      return std::nullopt;
    }
    const ValueId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  /// The values above the last mark, which is taken away too.
  std::vector<ValueId> pop_to_mark() {
    if (marks_.empty()) {
      corrupt("a mark is missing");
      return {};
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<ValueId> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  void push_tuple(std::size_t count) {
    Value tuple;
    tuple.kind = Kind::Tuple;
    tuple.items.resize(count);
    for (std::size_t i = count; i-- > 0;) {
      const std::optional<ValueId> item = pop();
      if (!item) return;
      tuple.items[i] = *item;
    }
    push(std::move(tuple));
  }
  /// Appends to the container on top of the stack.
  void extend(Kind kind, const std::vector<ValueId>& items) {
    if (error_) return;
    if (stack_.size() <= floor() || values_[stack_.back()].kind != kind) {
      return corrupt("adds to something that is no such container");
    }
    if (kind == Kind::Dictionary && items.size() % 2 != 0) {
      return corrupt("a key without a value");
    }
    std::vector<ValueId>& target = values_[stack_.back()].items;
    target.insert(target.end(), items.begin(), items.end());
  }
  void remember(std::uint32_t index) {
    if (stack_.size() <= floor()) return corrupt("remembers nothing");
    memo_[index] = stack_.back();
  }
  void recall(std::uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) return corrupt("recalls what was never remembered");
    stack_.push_back(found->second);
    if (stack_.size() > kMaxValues) {
      fail(ErrorCode::TooLarge, "a stack that no state_dict needs");
    }
  }

  void step(std::uint8_t opcode, bool& stopped) {
    switch (opcode) {
      case 0x80:  // PROTO
        if (const std::uint8_t version = reader_.u8("the protocol"); version > 5) {
          unsupported("pickle protocol " + std::to_string(version));
        }
        return;
      case 0x95:  // FRAME
        reader_.u64("a frame");
        return;
      case '.':
        stopped = true;
        if (!marks_.empty()) corrupt("stops before a mark is taken away");
        return;
      case '(':
        marks_.push_back(stack_.size());
        if (marks_.size() > kMaxValues) fail(ErrorCode::TooLarge, "too many marks");
        return;
      case 'N':
        return push({});
      case 0x88:
        return push_number(Kind::Bool, 1);
      case 0x89:
        return push_number(Kind::Bool, 0);
      case 'K':
        return push_number(Kind::Integer, reader_.u8("an integer"));
      case 'M':
        return push_number(Kind::Integer, reader_.u16("an integer"));
      case 'J':
        return push_number(Kind::Integer, reader_.read<std::int32_t>("an integer"));
      case 0x8A:
        return push_long();
      case 'G':
        reader_.bytes(8, "a float");
        return push_number(Kind::Float, 0);
      case 'X':
        return push_text(reader_.text(reader_.u32("a text's length"), "a text"));
      case 0x8C:
        return push_text(reader_.text(reader_.u8("a text's length"), "a text"));
      case 0x8D:
        return push_text(reader_.text(reader_.u64("a text's length"), "a text"));
      case 'q':
        return remember(reader_.u8("a memo index"));
      case 'r':
        return remember(reader_.u32("a memo index"));
      case 0x94:
        return remember(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return recall(reader_.u8("a memo index"));
      case 'j':
        return recall(reader_.u32("a memo index"));
      default:
        return step_container(opcode);
    }
  }

  void step_container(std::uint8_t opcode) {
    switch (opcode) {
      case ')':
        return push_tuple(0);
      case 0x85:
      case 0x86:
      case 0x87:
        return push_tuple(opcode - 0x84u);
      case 't': {
        Value tuple;
        tuple.kind = Kind::Tuple;
        tuple.items = pop_to_mark();
        return push(std::move(tuple));
      }
      case ']':
        return push_number(Kind::List, 0);
      case '}':
        return push_number(Kind::Dictionary, 0);
      case 'e':
        return extend(Kind::List, pop_to_mark());
      case 'u':
        return extend(Kind::Dictionary, pop_to_mark());
      case 'a':
        if (const auto item = pop()) extend(Kind::List, {*item});
        return;
      case 's': {
        const auto value = pop();
        const auto key = pop();
        if (value && key) extend(Kind::Dictionary, {*key, *value});
        return;
      }
      case 'c': {
        const std::string_view module = line();
        const std::string_view name = line();
        return push_name(module, name);
      }
      case 0x93: {  // STACK_GLOBAL
        const auto name = pop();
        const auto module = pop();
        if (name && module) push_name(values_[*module].text, values_[*name].text);
        return;
      }
      case 'Q':
        return push_storage();
      case 'R':
        return call();
      case 'b': {  // BUILD: an OrderedDict's attributes ("_metadata"), of no use here
        pop();
        if (!error_ &&
            (stack_.size() <= floor() || values_[stack_.back()].kind != Kind::Dictionary)) {
          unsupported("sets attributes of something that is no dictionary");
        }
        return;
      }
      default:
        constexpr char kHex[] = "0123456789ABCDEF";
        return unsupported(std::string("opcode 0x") + kHex[opcode >> 4] + kHex[opcode & 15] +
                           ", which no state_dict needs");
    }
  }

  /// A little-endian two's-complement integer of at most 8 bytes.
  void push_long() {
    const std::uint8_t size = reader_.u8("an integer's length");
    if (size > 8) return unsupported("an integer of " + std::to_string(size) + " bytes");
    const std::span<const std::byte> bytes = reader_.bytes(size, "an integer");
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      number = number << 8 | static_cast<std::uint64_t>(bytes[i]);
    }
    if (size > 0 && size < 8 && (number >> (8 * size - 1) & 1) != 0) {
      number |= ~std::uint64_t{0} << (8 * size);
    }
    push_number(Kind::Integer, static_cast<std::int64_t>(number));
  }

  /// Text up to the next line end.
  std::string_view line() {
    const auto* rest = reinterpret_cast<const char*>(bytes_.data()) + reader_.position();
    const std::size_t length = std::string_view(rest, reader_.left()).find('\n');
    if (length == std::string_view::npos) {
      corrupt("a name that does not end");
      return {};
    }
    return reader_.text(length + 1, "a name").substr(0, length);
  }

  void push_name(std::string_view module, std::string_view name) {
    if (error_) return;
    for (const KnownName& known : kNames) {
      if (known.module == module && known.name == name) {
        Value value;
        value.kind = known.kind;
        value.type = known.type;
        return push(std::move(value));
      }
    }
    unsupported("asks for " + in_quotes(std::string(module) + "." + std::string(name)) +
                ", which no state_dict needs and which is never run");
  }

  const Value* item(const Value& tuple, std::size_t index, Kind kind) const {
    const Value& value = values_[tuple.items[index]];
    return value.kind == kind ? &value : nullptr;
  }

  /// BINPERSID: ("storage", type, name, location, elements).
  void push_storage() {
    const std::optional<ValueId> id = pop();
    if (!id) return;
    const Value& tuple = values_[*id];
    if (tuple.kind != Kind::Tuple || tuple.items.size() != 5) {
      return unsupported("a persistent id that is no storage");
    }
    const Value* word = item(tuple, 0, Kind::Text);
    const Value* type = item(tuple, 1, Kind::StorageType);
    const Value* key = item(tuple, 2, Kind::Text);
    const Value* elements = item(tuple, 4, Kind::Integer);
    if (word == nullptr || word->text != "storage" || type == nullptr || key == nullptr ||
        elements == nullptr || elements->number < 0) {
      return unsupported("a persistent id that is no storage");
    }
    PickledTensor storage{};
    storage.type = type->type;
    storage.storage = key->text;
    storage.storage_elements = static_cast<std::uint64_t>(elements->number);
    tensors_.push_back(std::move(storage));
    push_number(Kind::Storage, static_cast<std::int64_t>(tensors_.size() - 1));
  }

  void call() {
    const std::optional<ValueId> arguments_id = pop();
    const std::optional<ValueId> callee_id = pop();
    if (!arguments_id || !callee_id) return;
    const Value& arguments = values_[*arguments_id];
    if (arguments.kind != Kind::Tuple) return corrupt("calls without a tuple of arguments");
    switch (values_[*callee_id].kind) {
      case Kind::OrderedDict:
        if (!arguments.items.empty()) return unsupported("an OrderedDict made from something");
        return push_number(Kind::Dictionary, 0);
      case Kind::RebuildParameter:  // (tensor, requires_grad, hooks)
        if (arguments.items.empty() || item(arguments, 0, Kind::Tensor) == nullptr) {
          return unsupported("a parameter of something that is no tensor");
        }
        stack_.push_back(arguments.items[0]);
        return;
      case Kind::RebuildTensor:
        return push_tensor(arguments);
      default:
        return unsupported("calls something that is no function");
    }
  }

  /// (storage, offset, shape, strides, requires_grad, hooks)
  void push_tensor(const Value& arguments) {
    if (arguments.items.size() < 4) return unsupported("a tensor of too few arguments");
    const Value* storage = item(arguments, 0, Kind::Storage);
    const Value* offset = item(arguments, 1, Kind::Integer);
    const Value* shape = item(arguments, 2, Kind::Tuple);
    const Value* strides = item(arguments, 3, Kind::Tuple);
    if (storage == nullptr || offset == nullptr || offset->number < 0 || shape == nullptr ||
        strides == nullptr || shape->items.size() != strides->items.size()) {
      return unsupported("a tensor with other arguments than torch writes");
    }
    if (shape->items.size() > kMaxSourceDimensions) {
      return unsupported("a tensor of " + std::to_string(shape->items.size()) + " dimensions");
    }
    PickledTensor tensor = tensors_[static_cast<std::size_t>(storage->number)];
    tensor.offset = static_cast<std::uint64_t>(offset->number);
    for (std::size_t i = 0; i < shape->items.size(); ++i) {
      const Value* dimension = item(*shape, i, Kind::Integer);
      const Value* stride = item(*strides, i, Kind::Integer);
      if (dimension == nullptr || stride == nullptr || dimension->number < 0 ||
          stride->number < 0) {
        return unsupported("a shape or stride that is no size");
      }
      tensor.shape.push_back(static_cast<std::uint64_t>(dimension->number));
      tensor.strides.push_back(static_cast<std::uint64_t>(stride->number));
    }
    tensors_.push_back(std::move(tensor));
    push_number(Kind::Tensor, static_cast<std::int64_t>(tensors_.size() - 1));
  }

  /// Tensors of a dictionary and of those in it. Dictionaries may hold each other (also in a
  /// circle): depth and number of visits are limited.
  void collect(ValueId dictionary, const std::string& prefix, unsigned depth) {
    const std::vector<ValueId>& items = values_[dictionary].items;
    for (std::size_t i = 0; i + 1 < items.size() && !error_; i += 2) {
      const Value& key = values_[items[i]];
      const Value& value = values_[items[i + 1]];
      if (++visits_ > kMaxVisits || found_.size() > kMaxSourceTensors) {
        return fail(ErrorCode::TooLarge, "more entries than a state_dict can have (limit " +
                                             std::to_string(kMaxSourceTensors) + " tensors)");
      }
      if (value.kind != Kind::Tensor && value.kind != Kind::Dictionary) {
        continue;
      }
      if (key.kind != Kind::Text && key.kind != Kind::Integer) {
        return unsupported("a tensor whose key is neither text nor a number");
      }
      std::string name = prefix;
      name += key.kind == Kind::Text ? std::string(key.text) : std::to_string(key.number);
      if (name.empty() || name.size() > kMaxSourceNameBytes) {
        return corrupt("a tensor's name of " + std::to_string(name.size()) + " bytes; 1 to " +
                       std::to_string(kMaxSourceNameBytes) + " are allowed");
      }
      if (value.kind == Kind::Tensor) {
        found_.push_back(tensors_[static_cast<std::size_t>(value.number)]);
        found_.back().name = std::move(name);
      } else if (depth > 1) {
        collect(items[i + 1], name + ".", depth - 1);
      } else {
        return unsupported("dictionaries more than " + std::to_string(kMaxDepth) + " deep, at " +
                           in_quotes(name));
      }
    }
  }

  base::ByteReader reader_;
  std::span<const std::byte> bytes_;
  std::string name_;
  std::size_t at_ = 0;  ///< where the opcode at hand begins
  std::vector<Value> values_;
  std::vector<ValueId> stack_;
  std::vector<std::size_t> marks_;  ///< sizes of the stack
  std::unordered_map<std::uint32_t, ValueId> memo_;
  std::vector<PickledTensor> tensors_;  ///< of storages and tensors
  std::vector<PickledTensor> found_;
  std::size_t visits_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<PickledTensor>> read_pickled_tensors(std::span<const std::byte> bytes,
                                                        std::string_view name_for_errors) {
  return Interpreter(bytes, name_for_errors).run();
}

}  // namespace laya::format
