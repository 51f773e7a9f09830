// Reads the expected values that make_golden.py wrote.
#ifndef TANDEM_DATA_TESTDATA_GOLDEN_H_
#define TANDEM_DATA_TESTDATA_GOLDEN_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "gtest/gtest.h"

namespace tandem {

inline std::string GoldenPath(absl::string_view name) { return absl::StrCat("data/testdata/", name); }

// Reads the file of expected values `name`, and returns its columns by their names.
inline std::map<std::string, HostTensor> ReadGolden(absl::string_view name) {
  std::map<std::string, HostTensor> columns;
  const absl::StatusOr<std::string> text = Env::Default()->ReadFile(GoldenPath(name));
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return columns;
  for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '|');
    Shape shape;
    for (absl::string_view size : absl::StrSplit(parts.at(2), ',', absl::SkipEmpty())) {
      int64_t n = 0;
      EXPECT_TRUE(absl::SimpleAtoi(size, &n));
      shape.push_back(n);
    }
    const int64_t elements = NumElements(shape);
    std::vector<std::string> values;
    if (elements > 0) values = absl::StrSplit(parts.at(3), ',');
    EXPECT_EQ(static_cast<int64_t>(values.size()), elements) << line;
    if (parts[1] == "string") {
      for (std::string& value : values) value = absl::HexStringToBytes(value);
      columns[parts[0]] = HostTensor::FromStrings(shape, values);
      continue;
    }
    HostTensor t(DTypeFromName(parts[1]), shape);
    const bool is_float = parts[1] == "float32" || parts[1] == "float64";
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t bits = 0;
      int64_t number = 0;
      EXPECT_TRUE(is_float ? absl::SimpleHexAtoi(values[i], &bits) : absl::SimpleAtoi(values[i], &number)) << line;
      if (!is_float) bits = static_cast<uint64_t>(number);
      const int64_t size = SizeOf(t.dtype());
      std::memcpy(static_cast<uint8_t*>(t.raw()) + i * size, &bits, size);
    }
    columns[parts[0]] = t;
  }
  return columns;
}

}  // namespace tandem

#endif  // TANDEM_DATA_TESTDATA_GOLDEN_H_
