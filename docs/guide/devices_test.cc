// Compiles and runs the code blocks of devices.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "tandem/estimator/devices.h"

namespace tandem {
namespace {

#include "docs/guide/devices_test_blocks.inc"

TEST(DevicesGuide, PrintsTheProcessorAndLibraries) {
  testing::internal::CaptureStdout();
  for (const auto block : kBlocks) EXPECT_TRUE(block("").ok());
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_THAT(printed, testing::HasSubstr(": cpu:"));
  EXPECT_THAT(printed, testing::HasSubstr("\nLLVM 19."));
  EXPECT_THAT(printed, testing::HasSubstr("\noneDNN 3."));
}

}  // namespace
}  // namespace tandem
