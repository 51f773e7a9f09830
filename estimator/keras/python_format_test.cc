// Numbers and templates as Python has them.
#include "estimator/keras/python_format.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using testing::HasSubstr;

TEST(PythonFormatTest, PrintsNumbersAsRepr) {
  EXPECT_EQ(PythonNumber(0.1), "0.1");
  EXPECT_EQ(PythonNumber(3.0), "3.0");
  EXPECT_EQ(PythonNumber(-0.0001), "-0.0001");
  EXPECT_EQ(PythonNumber(0.00001), "1e-05");
  EXPECT_EQ(PythonNumber(1.5e300), "1.5e+300");
  EXPECT_EQ(PythonNumber(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonNumber(1e16), "1e+16");
  EXPECT_EQ(PythonNumber(static_cast<double>(0.045f)), "0.04500000178813934");
  EXPECT_EQ(PythonNumber(0.045f), "0.045");
  EXPECT_EQ(PythonNumber(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(PythonNumber(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PythonFormatTest, ReplacesNames) {
  const PythonArguments arguments = {{"epoch", int64_t{3}}, {"val_loss", 1.256}, {"acc", -0.5}};
  const auto format = [&](absl::string_view text) {
    const absl::StatusOr<std::string> result = PythonFormat(text, arguments);
    return result.ok() ? *result : std::string(result.status().message());
  };
  EXPECT_EQ(format("w.{epoch:02d}-{val_loss:.2f}.h5"), "w.03-1.26.h5");
  EXPECT_EQ(format("{epoch}{epoch:4d}{epoch:.1f}"), "3   33.0");
  EXPECT_EQ(format("{acc}|{acc:07.2f}|{acc:7.2f}|{acc:.1e}|{acc:g}|{acc:.0%}"),
            "-0.5|-000.50|  -0.50|-5.0e-01|-0.5|-50%");
  EXPECT_EQ(format("{{{epoch}}}"), "{3}");
  EXPECT_THAT(format("{epochs}"), HasSubstr("there is no \"epochs\"; there are epoch, val_loss, acc; did you mean"));
  EXPECT_THAT(format("{epoch"), HasSubstr("a brace stands alone"));
  EXPECT_THAT(format("epoch}"), HasSubstr("a brace stands alone"));
  EXPECT_THAT(format("{val_loss:d}"), HasSubstr("\"d\" formats no floating-point number"));
  EXPECT_THAT(format("{epoch:.2d}"), HasSubstr("\".2d\" formats no integer"));
  EXPECT_THAT(format("{epoch:999999999999d}"), HasSubstr("formats no integer"));
}

}  // namespace
}  // namespace tandem::keras
