// Reads datasets in tests.
#ifndef TANDEM_DATA_TEST_UTIL_H_
#define TANDEM_DATA_TEST_UTIL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "gtest/gtest.h"

namespace tandem {

// Returns the next elements: all, or `limit` of them. An error is a test failure.
inline std::vector<Element> Read(Iterator& it, int64_t limit = INT64_MAX) {
  std::vector<Element> elements;
  while (static_cast<int64_t>(elements.size()) < limit) {
    Element element;
    bool end = false;
    absl::Status status = it.GetNext(&element, &end);
    EXPECT_TRUE(status.ok()) << status;
    if (end || !status.ok()) break;
    elements.push_back(std::move(element));
  }
  return elements;
}

inline std::unique_ptr<Iterator> Make(const Dataset& dataset) {
  absl::StatusOr<std::unique_ptr<Iterator>> it = dataset.MakeIterator();
  EXPECT_TRUE(it.ok()) << it.status();
  return it.ok() ? *std::move(it) : nullptr;
}

inline std::vector<Element> Read(const Dataset& dataset, int64_t limit = INT64_MAX) {
  std::unique_ptr<Iterator> it = Make(dataset);
  return it ? Read(*it, limit) : std::vector<Element>();
}

// Returns the int64 values of the first component, one vector for each element.
inline std::vector<std::vector<int64_t>> Batches(const std::vector<Element>& elements) {
  std::vector<std::vector<int64_t>> out;
  for (const Element& e : elements) {
    absl::Span<const int64_t> values = e.components[0].values<int64_t>();
    out.emplace_back(values.begin(), values.end());
  }
  return out;
}

// Returns the same values in one vector.
inline std::vector<int64_t> Values(const std::vector<Element>& elements) {
  std::vector<int64_t> out;
  for (const std::vector<int64_t>& batch : Batches(elements)) out.insert(out.end(), batch.begin(), batch.end());
  return out;
}
inline std::vector<int64_t> Values(const Dataset& dataset, int64_t limit = INT64_MAX) {
  return Values(Read(dataset, limit));
}

inline bool BitEqual(const std::vector<Element>& a, const std::vector<Element>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].components.size() != b[i].components.size()) return false;
    for (size_t c = 0; c < a[i].components.size(); ++c) {
      if (!a[i].components[c].BitEqual(b[i].components[c])) return false;
    }
  }
  return true;
}

}  // namespace tandem

#endif  // TANDEM_DATA_TEST_UTIL_H_
