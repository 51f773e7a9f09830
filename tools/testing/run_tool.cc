#include "tools/testing/run_tool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

#include "base/env.h"

namespace tandem {

ToolResult RunShell(const std::string& line) {
  ToolResult result;
  const std::string err = ::testing::TempDir() + "/stderr";
  FILE* pipe = popen((line + " 2>" + err).c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.out.append(buffer, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.err = Env::Default()->ReadFile(err).value_or("");
  return result;
}

ToolResult RunTool(const std::string& tool, const std::string& arguments) {
  return RunShell("tools/" + tool + " " + arguments);
}

}  // namespace tandem
