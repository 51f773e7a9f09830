// tandem-checkpoint COMMAND ...: lists, shows, compares, renames, averages and converts checkpoints.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/count_text.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/flag_table.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "data/files/npy.h"
#include "data/files/write_npz.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/checkpoint/write_checkpoint.h"
#include "tools/checkpoint/average.h"
#include "tools/checkpoint/compare.h"
#include "tools/checkpoint/list.h"
#include "tools/checkpoint/load.h"
#include "tools/checkpoint/npz.h"
#include "tools/checkpoint/rename.h"
#include "tools/checkpoint/show.h"
#include "tools/command_problem.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct CheckpointFlags : FlagTable {
  Flag<int64_t> limit{this, "limit", 1000, "show CKPT NAME: how many values at most; -1: all"};
  Flag<std::vector<std::string>> map{
      this,
      "map",
      {},
      "rename: old=new,old2=new2 and so on; slots follow their variables, and an old name that ends with / stands "
      "for all that begin so"};
  Flag<std::string> output{this, "output", "", "average: the checkpoint to make"};
};

constexpr char kUsage[] =
    "tandem-checkpoint COMMAND ...\n"
    "  list DIR                    the checkpoints of a model_dir, verified, and the best evaluations\n"
    "  show CKPT [NAME]            types, shapes and statistics of all variables, or the values of one\n"
    "  compare A B                 all differences; exit code 0 when names, shapes and bits are equal, else 1\n"
    "  rename CKPT OUT --map=...   the same with other names\n"
    "  average CKPT... --output=   the mean of their variables\n"
    "  to_npz CKPT FILE            all tensors as NumPy reads them, and global_step\n"
    "  from_npz FILE CKPT          and back\n"
    "CKPT is a checkpoint (DIR/model.ckpt-100), a model_dir (its latest), or, to read, a .safetensors file.";

using Arguments = std::vector<std::string>;

absl::Status List(const CheckpointFlags&, const Arguments& arguments) {
  TD_ASSIGN_OR_RETURN(const CheckpointList list, ListModelDir(Env::Default(), arguments[0]));
  std::cout << list.text;
  return list.damage;
}

absl::Status Show(const CheckpointFlags& flags, const Arguments& arguments) {
  TD_ASSIGN_OR_RETURN(const auto checkpoint, CheckpointReader::Open(Env::Default(), arguments[0]));
  if (arguments.size() == 1) {
    TD_ASSIGN_OR_RETURN(const std::string text, ShowCheckpoint(*checkpoint));
    std::cout << text;
  } else {
    TD_ASSIGN_OR_RETURN(const std::string text, ShowTensor(*checkpoint, arguments[1], *flags.limit));
    std::cout << text;
  }
  return absl::OkStatus();
}

absl::Status Compare(const CheckpointFlags&, const Arguments& arguments) {
  TD_ASSIGN_OR_RETURN(const auto a, CheckpointReader::Open(Env::Default(), arguments[0]));
  TD_ASSIGN_OR_RETURN(const auto b, CheckpointReader::Open(Env::Default(), arguments[1]));
  TD_ASSIGN_OR_RETURN(const CheckpointDifferences differences, CompareCheckpoints(*a, *b));
  std::cout << differences.text;
  if (differences.equal) return absl::OkStatus();
  return WithExitCode(absl::InternalError(absl::StrCat(a->path(), " and ", b->path(), " differ")), kExitInternal);
}

absl::Status Made(const std::string& path, const CheckpointData& data) {
  // While the lock of the model directory is held, no training there deletes the unfinished checkpoint as a leftover.
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<FileLock> lock, LockIfModelDir(Env::Default(), DirName(path), &path));
  TD_RETURN_IF_ERROR(WriteNewCheckpoint(Env::Default(), path, data));
  std::cout << PrintableLine(path) << ": " << CountText(data.variables.size(), "variable") << " and "
            << CountText(data.slots.size(), "slot") << " of step " << data.global_step << "\n";
  return absl::OkStatus();
}

absl::Status Rename(const CheckpointFlags& flags, const Arguments& arguments) {
  TD_ASSIGN_OR_RETURN(const NameMap names, ParseNameMap(*flags.map));
  TD_ASSIGN_OR_RETURN(CheckpointData data, LoadCheckpoint(Env::Default(), arguments[0]));
  TD_RETURN_IF_ERROR(RenameVariables(names, &data));
  return Made(arguments[1], data);
}

absl::Status Average(const CheckpointFlags& flags, const Arguments& arguments) {
  const std::string output = *flags.output;
  if (output.empty()) return absl::InvalidArgumentError("--output is missing: name the checkpoint to make");
  TD_ASSIGN_OR_RETURN(const CheckpointData data, AverageCheckpoints(Env::Default(), arguments));
  return Made(output, data);
}

absl::Status ToNpz(const CheckpointFlags&, const Arguments& arguments) {
  const std::string& path = arguments[1];
  if (Env::Default()->Exists(path)) {
    return absl::AlreadyExistsError(absl::StrCat(path, ": is there already; delete it, or choose another name"));
  }
  TD_RETURN_IF_ERROR(CheckOutputFile(Env::Default(), "to_npz", path));
  TD_ASSIGN_OR_RETURN(const CheckpointData data, LoadCheckpoint(Env::Default(), arguments[0]));
  TD_ASSIGN_OR_RETURN(const TensorMap arrays, ArraysOf(data));
  TD_ASSIGN_OR_RETURN(const std::string bytes, SerializeNpz(arrays));
  TD_RETURN_IF_ERROR(WriteOutputFile(Env::Default(), "to_npz", path, bytes));
  std::cout << PrintableLine(path) << ": " << arrays.size() << " arrays\n";
  return absl::OkStatus();
}

absl::Status FromNpz(const CheckpointFlags&, const Arguments& arguments) {
  TD_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(arguments[0]));
  TD_ASSIGN_OR_RETURN(const CheckpointData data, CheckpointOf(arrays, arguments[0]));
  return Made(arguments[1], data);
}

absl::Status Run(const CheckpointFlags& flags, const Arguments& arguments) {
  struct Command {
    size_t least, most;  // least and greatest number of arguments
    absl::Status (*run)(const CheckpointFlags&, const Arguments&);
  };
  static const auto& commands = *new std::map<std::string, Command>{
      {"list", {1, 1, List}},       {"show", {1, 2, Show}},          {"compare", {2, 2, Compare}},
      {"rename", {2, 2, Rename}},   {"average", {1, 1000, Average}}, {"to_npz", {2, 2, ToNpz}},
      {"from_npz", {2, 2, FromNpz}}};
  const auto command = arguments.empty() ? commands.end() : commands.find(arguments[0]);
  const size_t given = arguments.empty() ? 0 : arguments.size() - 1;
  if (command == commands.end() || given < command->second.least || given > command->second.most) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : commands) names.push_back(name);
    return absl::InvalidArgumentError(absl::StrCat(CommandProblem(arguments, names), "; usage:\n", kUsage));
  }
  return command->second.run(flags, Arguments(arguments.begin() + 1, arguments.end()));
}

}  // namespace

int TandemCheckpoint(int argc, char** argv) { return RunToolProgram<CheckpointFlags>(argc, argv, kUsage, Run); }

}  // namespace tandem
