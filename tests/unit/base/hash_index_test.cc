// HashIndex against std::map.
#include "base/hash_index.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/address.h"
#include "base/rng.h"

namespace homa {
namespace {

struct Element {
  std::uint64_t name = 0;
};
struct GoodTraits {
  using Key = std::uint64_t;
  static std::uint64_t hash(Key key, std::uint64_t secret) { return mix64(key ^ secret); }
  static const Key& key(const Element& element) { return element.name; }
};
/// Three homes for all: long probe chains, which deletion has to close again.
struct BadTraits : GoodTraits {
  static std::uint64_t hash(Key key, std::uint64_t) { return key % 3 + 14; }
};

template <typename Traits>
void agrees_with_a_map(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Rng rng(seed);
  std::vector<Element> elements(80);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].name = i;
  HashIndex<Element, Traits> index(rng.next());
  std::map<std::uint64_t, Element*> model;
  for (int i = 0; i < 2000; ++i) {
    Element& element = elements[rng.below(elements.size())];
    if (model.count(element.name) == 0) {
      index.insert(element);
      model[element.name] = &element;
    } else {
      index.erase(element);
      model.erase(element.name);
    }
    ASSERT_EQ(index.size(), model.size());
    for (const Element& asked : elements) {
      ASSERT_EQ(index.find(asked.name), model.count(asked.name) > 0 ? model[asked.name] : nullptr);
    }
  }
}

TEST(HashIndex, AgreesWithAMap) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) agrees_with_a_map<GoodTraits>(seed);
}

TEST(HashIndex, AgreesWithAMapWhenAllCollide) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) agrees_with_a_map<BadTraits>(seed);
}

TEST(HashIndex, EmptyFindsNothingAndAllocatesNothing) {
  const HashIndex<Element, GoodTraits> index(1);
  EXPECT_EQ(index.find(5), nullptr);
  EXPECT_EQ(index.memory_bytes(), 0U);
}

TEST(HashIndex, ComingAndGoingDoesNotGrowIt) {
  std::vector<Element> elements(1000);
  HashIndex<Element, GoodTraits> index(1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i].name = i;
    index.insert(elements[i]);
    if (i >= 10) index.erase(elements[i - 10]);
  }
  EXPECT_EQ(index.memory_bytes(), 32 * sizeof(void*));
}

}  // namespace
}  // namespace homa
