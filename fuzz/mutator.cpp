#include "mutator.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace laya::fuzz {
namespace {

class SplitMix {  // Steele, Lea, Flood 2014: splitmix64
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(next() % limit);
  }

 private:
  std::uint64_t state_;
};

// Where counts and offsets go wrong: zero, one, the edges of the widths, and just off them.
constexpr std::array<std::uint64_t, 16> kEdges{
    0,      1,       2,          63,         64,          0x7F,       0xFF,       0x7FFF,
    0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF, 0x100000000, 1ull << 63, ~0ull - 63, ~0ull};

void change(std::vector<std::uint8_t>& bytes, SplitMix& random) {
  const std::size_t size = bytes.size();
  const std::size_t at = random.below(size);
  switch (random.below(7)) {
    case 0:
      if (size > 0) bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 1:
      if (size > 0) bytes[at] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
    case 3: {  // an edge value, 1 to 8 bytes wide, often aligned as fields are
      const std::size_t width = std::size_t{1} << random.below(4);
      const std::size_t start = random.below(2) == 0 ? at / width * width : at;
      const std::uint64_t value = kEdges[random.below(kEdges.size())];
      if (start < size) {
        std::memcpy(bytes.data() + start, &value, std::min(width, size - start));
      }
      break;
    }
    case 4:
      bytes.resize(at);
      break;
    case 5: {  // repeat a chunk
      const std::size_t length = std::min(random.below(64) + 1, size - at);
      const std::vector<std::uint8_t> chunk(
          bytes.begin() + static_cast<std::ptrdiff_t>(at),
          bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random.below(size + 1)),
                   chunk.begin(), chunk.end());
      break;
    }
    default: {  // copy a chunk over another place
      const std::size_t to = random.below(size);
      const std::size_t length = std::min({random.below(64) + 1, size - at, size - to});
      if (length > 0) std::memmove(bytes.data() + to, bytes.data() + at, length);
      break;
    }
  }
}

}  // namespace

std::vector<std::uint8_t> mutate(std::vector<std::uint8_t> bytes, std::uint64_t seed) {
  SplitMix random(seed);
  for (std::size_t n = random.below(4) + 1; n > 0; --n) {
    change(bytes, random);
  }
  return bytes;
}

}  // namespace laya::fuzz
