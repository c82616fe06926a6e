// Heap against sorting.
#include "base/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/rng.h"

namespace homa {
namespace {

struct Element {
  std::uint64_t key = 0;
  HeapHook hook;
};
struct Smaller {
  bool operator()(const Element& a, const Element& b) const { return a.key < b.key; }
};
using TestHeap = Heap<Element, &Element::hook, Smaller>;

TEST(Heap, TopIsAlwaysTheSmallest) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<Element> elements(60);
    TestHeap heap;
    std::set<Element*> inside;
    const std::uint64_t keys = seed % 2 == 0 ? 8 : 1000;  // many equal keys, or few
    for (int i = 0; i < 2000; ++i) {
      Element& element = elements[rng.below(elements.size())];
      const bool is_in = inside.count(&element) > 0;
      ASSERT_EQ(TestHeap::contains(element), is_in);
      switch (rng.below(5)) {
        case 0:
        case 1:
          if (is_in) break;
          element.key = rng.below(keys);
          heap.push(element);
          inside.insert(&element);
          break;
        case 2:
          heap.discard(element);
          inside.erase(&element);
          break;
        case 3:
          if (!is_in) break;
          element.key = rng.below(keys);
          heap.update(element);
          break;
        case 4:
          if (Element* first = heap.pop(); first != nullptr) {
            ASSERT_EQ(inside.erase(first), 1U);
          }
          break;
      }
      ASSERT_EQ(heap.size(), inside.size());
      ASSERT_EQ(heap.empty(), inside.empty());
      const auto best = std::min_element(inside.begin(), inside.end(),
                                         [](const Element* a, const Element* b) { return a->key < b->key; });
      ASSERT_EQ(heap.top() == nullptr, inside.empty());
      if (heap.top() != nullptr) {
        ASSERT_EQ(heap.top()->key, (*best)->key);
      }
    }
  }
}

TEST(Heap, ComesOutSorted) {
  Rng rng(7);
  std::vector<Element> elements(500);
  TestHeap heap;
  for (Element& element : elements) {
    element.key = rng.below(100);
    heap.push(element);
  }
  std::uint64_t last = 0;
  while (Element* element = heap.pop()) {
    EXPECT_GE(element->key, last);
    last = element->key;
    EXPECT_FALSE(TestHeap::contains(*element));
  }
}

// The grant scheduler changes a key and then removes the element without telling the heap in between.
TEST(Heap, AnElementWhoseKeyChangedMayLeave) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::vector<Element> elements(20);
    TestHeap heap;
    for (Element& element : elements) {
      element.key = rng.below(50);
      heap.push(element);
    }
    Element& leaving = elements[rng.below(elements.size())];
    leaving.key = rng.below(50);
    heap.remove(leaving);
    std::uint64_t last = 0;
    while (Element* element = heap.pop()) {
      ASSERT_GE(element->key, last) << "seed " << seed;
      last = element->key;
    }
  }
}

}  // namespace
}  // namespace homa
