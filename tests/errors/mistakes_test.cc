// Ordinary mistakes, more than the seventy-one that a new user once tried: each ends in a message that explains itself,
// and none is found later than it can be.
#include "tests/errors/mistakes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/env.h"
#include "base/logging.h"

namespace tandem::mistakes {
namespace {

constexpr int kWanted = 71;
int explained = 0, found_before_steps = 0;

std::vector<Mistake> AllMistakes() {
  std::vector<Mistake> all;
  for (const auto* part :
       {&ModelMistakes(), &GraphMistakes(), &InputMistakes(), &RunMistakes(), &ChoosingMistakes(), &ToolMistakes()}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

// Line `number`, counted from 1, of a source file among the test's data.
std::string SourceLine(const std::string& file, int number) {
  std::ifstream in(file);
  std::string line;
  while (number-- > 0) {
    if (!std::getline(in, line)) return absl::StrCat("no such line of ", file);
  }
  return std::string(absl::StripAsciiWhitespace(line));
}

// The message as Mistake::message gives it.
std::string WithoutPlaces(const std::string& message, const std::string& dir) {
  static const std::regex place("(tests/errors/[a-z_]+\\.(?:cc|h)):([0-9]+)");
  std::string text;
  auto end = message.cbegin();
  for (std::sregex_iterator it(message.begin(), message.end(), place), none; it != none; ++it) {
    const std::smatch& match = *it;
    text.append(end, match[0].first);
    absl::StrAppend(&text, "{", SourceLine(match[1], std::stoi(match[2])), "}");
    end = match[0].second;
  }
  text.append(end, message.cend());
  // How much memory a program takes, and for what, is the compiler's matter.
  text = std::regex_replace(text, std::regex("[0-9.]+ MiB"), "# MiB");
  text = std::regex_replace(text, std::regex("largest buffers: [^;]*;"), "largest buffers: {buffers};");
  // Which ops share a kernel, too.
  text = std::regex_replace(text, std::regex(" fused with .*, replica 0"), " fused with {ops}, replica 0");
  return absl::StrReplaceAll(text, {{dir, "{dir}"}});
}

// Whether the log is one of a process that has made a step, of a training or of an evaluation.
bool HasStepped(const LogCapture& log) {
  for (const LogEntry& entry : log.entries()) {
    if (absl::StartsWith(entry.message, "loss = ") || absl::StartsWith(entry.message, "Evaluation [")) return true;
  }
  return log.Contains("Inference Time");
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, IsExplained) {
  const Mistake& mistake = GetParam();
  const std::string dir = absl::StrCat(testing::TempDir(), "/mistakes_", mistake.name);
  if (Env::Default()->Exists(dir)) {
    ASSERT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
  }
  const LogCapture log;
  const absl::Status status = mistake.make(dir);
  ASSERT_FALSE(status.ok()) << "the mistake goes unnoticed";
  const std::string told = WithoutPlaces(std::string(status.message()), dir);
  EXPECT_EQ(told, mistake.message);
  explained += told == mistake.message;
  if (mistake.found == Found::kBeforeSteps) {
    EXPECT_FALSE(HasStepped(log)) << "it is found after steps:\n" << log.Text();
  }
  found_before_steps += !HasStepped(log);
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(AllMistakes()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MistakesTable, HasAllOfThem) {
  std::set<std::string> names;
  for (const Mistake& mistake : AllMistakes()) EXPECT_TRUE(names.insert(mistake.name).second) << mistake.name;
  EXPECT_GE(names.size(), kWanted);
}

class PrintCount : public testing::Environment {
  void TearDown() override {
    std::printf("%d of %d mistakes explained, %d of them found before the first step\n", explained,
                static_cast<int>(AllMistakes().size()), found_before_steps);
  }
};
const auto* const print_count = testing::AddGlobalTestEnvironment(new PrintCount);

}  // namespace
}  // namespace tandem::mistakes
