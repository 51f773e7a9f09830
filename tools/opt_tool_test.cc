// tandem-opt as a user starts it, and what all tools do with their output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/env.h"
#include "tools/testing/run_tool.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

// What the tools have printed they have printed completely, or they say so.
TEST(OutputTest, AFullDiskIsAnIoError) {
  const std::string ir = ::testing::TempDir() + "/empty.mlir";
  ASSERT_TRUE(Env::Default()->WriteFile(ir, {"module {}\n"}).ok());
  for (const auto& [tool, arguments] :
       {std::pair<std::string, std::string>("tandem-dump", "--help"), {"tandem-run", "--help"}, {"tandem-opt", ir}}) {
    const ToolResult result = RunTool(tool, arguments + " > /dev/full");
    EXPECT_EQ(result.exit_code, 74) << tool << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr("standard output: ")) << tool;
  }
}

TEST(Opt, OnlyRegularFilesOfTheSizeOfTextAreRead) {
#ifdef TANDEM_SANITIZE_ADDRESS  // which reserves terabytes of address space
  const std::string limit;
#else
  const std::string limit = "ulimit -v 8000000; ";
#endif
  const std::string fifo = ::testing::TempDir() + "/fifo.mlir", sparse = ::testing::TempDir() + "/sparse.mlir";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_TRUE(Env::Default()->WriteFile(sparse, {"module {}"}).ok());
  ASSERT_EQ(truncate(sparse.c_str(), off_t{1} << 40), 0);
  for (const char* flags : {"", " --compile-to=input"}) {
    // One that waits for a writer, or reads for ever, is stopped.
    const auto opt = [&](const std::string& input) {
      return RunShell(limit + "timeout 60 tools/tandem-opt " + input + flags);
    };
    for (const std::string& input : {fifo, std::string("/dev/zero")}) {
      const ToolResult result = opt(input);
      EXPECT_EQ(result.exit_code, 2) << result.err;
      EXPECT_THAT(result.err, HasSubstr(input + ": cannot read: it is a "));
    }
    const ToolResult huge = opt(sparse);
    EXPECT_EQ(huge.exit_code, 65) << huge.err;
    EXPECT_THAT(huge.err, HasSubstr("sparse.mlir: has 1099511627776 bytes, and at most "));
    EXPECT_EQ(opt(::testing::TempDir() + "/absent.mlir").exit_code, 66);
  }
  const ToolResult piped = RunTool("tandem-opt", "- < /dev/null");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
}

TEST(Opt, AByteOrderMarkIsNoPartOfTheText) {
  const std::string marked = ::testing::TempDir() + "/marked.mlir", utf16 = ::testing::TempDir() + "/utf16.mlir";
  ASSERT_TRUE(Env::Default()->WriteFile(marked, {"\xef\xbb\xbfmodule {}\n"}).ok());
  ASSERT_TRUE(Env::Default()->WriteFile(utf16, {absl::string_view("\xff\xfem\0", 4)}).ok());
  for (const char* input : {"", "- < "}) {
    const ToolResult read = RunTool("tandem-opt", input + marked);
    EXPECT_EQ(read.exit_code, 0) << read.err;
    const ToolResult refused = RunTool("tandem-opt", input + utf16);
    EXPECT_EQ(refused.exit_code, 65) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("at byte 0: the byte order mark of UTF-16LE (ff fe)"));
  }
}

}  // namespace
}  // namespace tandem
