// Mistakes on command lines: of programs, and of tools.
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "base/env.h"
#include "base/flags.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "tests/errors/mistakes.h"
#include "tools/checkpoint/show.h"

ABSL_FLAG(int, mistaken_batch_size, 32, "Examples in a batch.");

namespace tandem::mistakes {
namespace {

absl::Status Flags(std::vector<std::string> arguments) { return ParseFlagList(arguments).status(); }

}  // namespace

const std::vector<Mistake>& ToolMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"MistypedFlag", [](const std::string&) { return Flags({"--mistaken_batch_sise=8"}); },
       "unknown flag --mistaken_batch_sise; did you mean --mistaken_batch_size?"},
      {"FlagThatIsNoNumber", [](const std::string&) { return Flags({"--mistaken_batch_size=many"}); },
       R"(flag --mistaken_batch_size: bad value "many"; give a whole number (Examples in a batch.))"},
      {"FlagWithoutAValue", [](const std::string&) { return Flags({"--mistaken_batch_size"}); },
       "flag --mistaken_batch_size needs a value: --mistaken_batch_size=VALUE"},
      {"ArgumentThatIsNoFlag", [](const std::string&) { return Flags({"mistaken_batch_size=8"}); },
       R"(unexpected argument "mistaken_batch_size=8": every argument is a flag --name=value)"},
      {"ShowOfAMistypedName",
       [](const std::string& dir) {
         if (absl::Status status = Prepared(dir, GoodModel); !status.ok()) return status;
         const auto reader = CheckpointReader::Open(Env::Default(), dir);
         if (!reader.ok()) return reader.status();
         return ShowTensor(**reader, "dense/kernl", 10).status();
       },
       R"({dir}/model.ckpt-2: has no tensor "dense/kernl"; did you mean "dense/kernel"? It has: dense/bias, )"
       "dense/kernel"},
      {"ShowOfAnEmptyDirectory",
       [](const std::string& dir) {
         if (absl::Status status = Env::Default()->CreateDirs(dir); !status.ok()) return status;
         return CheckpointReader::Open(Env::Default(), dir).status();
       },
       "{dir}/manifest.json: is missing: {dir} is no checkpoint, or one that was never finished; name the folder of "
       "one, such as MODEL_DIR/model.ckpt-1000"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
