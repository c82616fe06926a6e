// IntrusiveList against std::list.
#include "base/intrusive_list.h"

#include <gtest/gtest.h>

#include <list>
#include <vector>

#include "base/rng.h"

namespace homa {
namespace {

struct Element {
  ListHook<Element> first_hook;
  ListHook<Element> second_hook;
};
using FirstList = IntrusiveList<Element, &Element::first_hook>;
using SecondList = IntrusiveList<Element, &Element::second_hook>;

TEST(IntrusiveList, AgreesWithAList) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<Element> elements(20);
    FirstList list;
    std::list<Element*> model;
    for (int i = 0; i < 1000; ++i) {
      Element& element = elements[rng.below(elements.size())];
      switch (rng.below(4)) {
        case 0:
          if (FirstList::contains(element)) break;
          list.push_back(element);
          model.push_back(&element);
          break;
        case 1:
          if (FirstList::contains(element)) break;
          list.push_front(element);
          model.push_front(&element);
          break;
        case 2:
          list.discard(element);
          model.remove(&element);
          break;
        case 3: {
          Element* expected = model.empty() ? nullptr : model.front();
          ASSERT_EQ(list.pop_front(), expected);
          if (expected != nullptr) model.pop_front();
          break;
        }
      }
      ASSERT_EQ(list.size(), model.size());
      ASSERT_EQ(list.empty(), model.empty());
      Element* at = list.front();
      for (Element* expected : model) {
        ASSERT_EQ(at, expected);
        ASSERT_TRUE(FirstList::contains(*at));
        at = FirstList::next(*at);
      }
      ASSERT_EQ(at, nullptr);
    }
  }
}

TEST(IntrusiveList, TwoHooksAreTwoMemberships) {
  Element element;
  FirstList first;
  SecondList second;
  first.push_back(element);
  EXPECT_FALSE(SecondList::contains(element));
  second.push_back(element);
  first.remove(element);
  EXPECT_TRUE(SecondList::contains(element));
  EXPECT_EQ(second.pop_front(), &element);
}

}  // namespace
}  // namespace homa
