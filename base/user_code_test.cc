#include "base/user_code.h"

#include <new>
#include <stdexcept>
#include <string>

#include "base/exit_code.h"
#include "base/logging.h"
#include "base/out_of_memory.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(UserCodeTest, ResultsComeThrough) {
  absl::StatusOr<int> number = CallUserCode([] { return 3; });
  ASSERT_TRUE(number.ok());
  EXPECT_EQ(*number, 3);
  absl::StatusOr<std::string> text = CallUserCode([]() -> absl::StatusOr<std::string> { return "a"; });
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "a");
  bool called = false;
  absl::Status nothing = CallUserCode([&] { called = true; });
  EXPECT_TRUE(nothing.ok());
  EXPECT_TRUE(called);
}

TEST(UserCodeTest, ErrorsComeThrough) {
  EXPECT_EQ(CallUserCode([] { return absl::DataLossError("bad"); }), absl::DataLossError("bad"));
  absl::StatusOr<int> number = CallUserCode([]() -> absl::StatusOr<int> { return absl::NotFoundError("none"); });
  EXPECT_EQ(number.status(), absl::NotFoundError("none"));
}

TEST(UserCodeTest, AnExceptionBecomesAStatusWithItsTypeAndText) {
  absl::Status status = CallUserCode([] { throw std::out_of_range("no such key"); });
  EXPECT_EQ(status, absl::InvalidArgumentError("threw std::out_of_range: \"no such key\""));
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  absl::StatusOr<int> number = CallUserCode([]() -> int { throw 5; });
  EXPECT_EQ(number.status(), absl::InvalidArgumentError("threw int, which is no std::exception"));
}

TEST(UserCodeTest, TheFirstErrorThatIsReportedIsTheResult) {
  const absl::Status inner = absl::DataLossError("inner"), outer = absl::NotFoundError("outer");
  EXPECT_EQ(CallUserCode([&] {
              ReportUserError(outer);
              ReportUserError(absl::InternalError("later"));
              EXPECT_EQ(CallUserCode([&] { ReportUserError(inner); }), inner);
              EXPECT_TRUE(CallUserCode([] { return 1; }).ok());
              return 5;
            }).status(),
            outer);
  EXPECT_EQ(CallUserCode([&] {
              ReportUserError(inner);
              throw std::out_of_range("so");
            }),
            inner);
  LogCapture log;
  ReportUserError(outer);
  EXPECT_EQ(log.Text(LogSeverity::kError), "outer\n");
}

TEST(UserCodeTest, OutOfMemoryIsAnExhaustedResource) {
  absl::Status status = CallUserCode([]() -> absl::Status { throw std::bad_alloc(); });
  EXPECT_EQ(status, OutOfMemoryError("ran out of memory (std::bad_alloc)"));
  EXPECT_EQ(ExitCodeFor(status), kExitIo);
}

}  // namespace
}  // namespace tandem
