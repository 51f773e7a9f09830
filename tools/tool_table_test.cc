// All tools in one program, by their names.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "tools/run_tool.h"

// A flag of this program, whose name a tool has for one of its own.
ABSL_FLAG(int, outputs, 1, "How many.");

namespace tandem {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

void Redirect(int descriptor, const std::string& path) {
  dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
}

// Runs a tool in a process of its own, which is as the main function of an installed program.
Outcome OutcomeOf(const std::string& name, std::vector<std::string> arguments) {
  const std::string out = testing::TempDir() + "/out", err = testing::TempDir() + "/err";
  arguments.insert(arguments.begin(), "/usr/bin/" + name);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    Redirect(STDOUT_FILENO, out);
    Redirect(STDERR_FILENO, err);
    _exit(RunTool(name, static_cast<int>(argv.size()), argv.data()));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = *Env::Default()->ReadFile(out),
          .err = *Env::Default()->ReadFile(err)};
}

TEST(RunTool, HasTheInstalledTools) {
  ASSERT_NE(std::getenv("INSTALLED_TOOLS"), nullptr);
  EXPECT_EQ(absl::StrJoin(ToolNames(), ","), std::getenv("INSTALLED_TOOLS"));
}

TEST(RunTool, EveryToolExplainsItself) {
  for (const std::string& name : ToolNames()) {
    const Outcome outcome = OutcomeOf(name, {"--help"});
    EXPECT_EQ(outcome.exit_code, 0) << name;
    EXPECT_THAT(outcome.out, StartsWith(name + ": "));
    EXPECT_THAT(outcome.out, HasSubstr("\n\nFlags:\n"));
    EXPECT_THAT(outcome.out, EndsWith("  --help\n      Prints this and exits.\n"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("--replay_step\n"))) << "flags of trainings";
    EXPECT_EQ(outcome.err, "") << name;
  }
}

TEST(RunTool, EveryToolRefusesUnknownFlags) {
  for (const std::string& name : ToolNames()) {
    const Outcome outcome = OutcomeOf(name, {"--zzzzzzzz"});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_EQ(outcome.out, "") << name;
    EXPECT_EQ(outcome.err, name + ": unknown flag --zzzzzzzz; --help lists all\n");
  }
}

TEST(RunTool, AToolHasNoFlagsOfOthers) {
  EXPECT_EQ(OutcomeOf("tandem-records", {"--per_class=3"}).err,
            "tandem-records: unknown flag --per_class; --help lists all\n");
  EXPECT_THAT(OutcomeOf("tandem-textures", {"--per_class=x"}).err, HasSubstr("flag --per_class: bad value \"x\""));
}

TEST(RunTool, FlagsOfTheProgramAreNoneOfATool) {
  EXPECT_THAT(OutcomeOf("tandem-run", {"model", "--outputs=numbers"}).err,
              HasSubstr("--outputs: numbers is neither a .safetensors nor a .npz file"));
  EXPECT_EQ(absl::GetFlag(FLAGS_outputs), 1);
}

TEST(RunTool, FlagsOfToolsAreNoneOfTheProgram) {
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (name == "outputs") continue;
    EXPECT_THAT(flag->Filename(), Not(HasSubstr("tools/"))) << name;
  }
}

TEST(RunTool, NamesTheToolsThatThereAre) {
  const Outcome outcome = OutcomeOf("tandem-opt", {});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            absl::StrCat("there is no tool \"tandem-opt\"; there are ", absl::StrJoin(ToolNames(), ", "), "\n"));
}

}  // namespace
}  // namespace tandem
