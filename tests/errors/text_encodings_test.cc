// Byte order marks before the text of every file that is read as text: that of UTF-8 is no part of the text, and a file
// in another encoding is an error that says so. What runs as a tool or needs certificates has such tests of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/files/vocabulary_file.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/checkpoint/kept_by_hours.h"
#include "estimator/curves/runs.h"
#include "estimator/evaluation/eval_log.h"
#include "passes/analysis/machine_model.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/format/index.h"
#include "runtime/testing/small_programs.h"
#include "tools/costs/costs.h"
#include "tools/costs/measurement.h"
#include "tools/scale/measured_times.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Env* env() { return Env::Default(); }

struct Reader {
  std::string name;
  std::string file;  // in a folder of its own
  std::string text;
  // What was read of the file at that path, as text.
  std::function<absl::StatusOr<std::string>(const std::string& path)> read;
};

absl::StatusOr<std::string> TextOf(const Dataset& dataset) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  std::string text;
  for (;;) {
    Element element;
    bool end = false;
    TD_RETURN_IF_ERROR(iterator->GetNext(&element, &end));
    if (end) return text;
    for (const HostTensor& t : element.components) {
      absl::StrAppend(&text, t.dtype() == DType::kString ? std::string(t.string(0)) : absl::StrCat(*t.data<int32_t>()),
                      "|");
    }
  }
}

Reader Csv(const std::string& name, const std::string& text, bool header, DType first) {
  const std::vector<CsvColumn> columns = {{"age", first}, {"name", DType::kString}};
  return {name, "table.csv", text,
          [=](const std::string& path) { return TextOf(Dataset::Csv({path}, columns, {.header = header})); }};
}

const Executable& Program() {
  static const auto* executable = new std::shared_ptr<const Executable>(*Executable::Parse(ProgramOfLibraryCalls()));
  return **executable;
}

std::string Trace() {
  const std::string mode = Program().index().mode;
  return absl::StrCat(R"({"traceEvents": [{"ph": "X", "cat": ")", mode,
                      R"(", "ts": 1.5, "dur": 2.5, "tid": 1, "args": {"run": 1, "rows": 2, "id": 0, "lane": 0}}],)",
                      R"("otherData": {"threads": 2, "programs": {")", mode, "\": \"", Program().index().key, "\"}}}");
}

// What a folder with one checkpoint has in its file `checkpoint`.
Reader Pointer() {
  CheckpointData data;
  data.global_step = 5;
  data.variables["w"] = HostTensor::Scalar<float>(1);
  const std::string dir = testing::TempDir() + "/pointed";
  EXPECT_TRUE(CheckpointManager(env(), dir).Save(data).ok());
  return {"checkpoint", "checkpoint", *env()->ReadFile(dir + "/checkpoint"),
          [dir](const std::string& path) -> absl::StatusOr<std::string> {
            TD_RETURN_IF_ERROR(env()->Rename(path, dir + "/checkpoint"));
            const auto latest = CheckpointManager(env(), dir).LatestCheckpoint();
            TD_RETURN_IF_ERROR(env()->Rename(dir + "/checkpoint", path));
            TD_RETURN_IF_ERROR(latest.status());
            return latest->value_or("none");
          }};
}

std::vector<Reader> Readers() {
  const std::string result = "{\"global_step\":10,\"loss\":3.5}\n";
  PlanChoices plans;
  plans.Record("call", "eng62_k2=4");
  return {
      {"TextLine", "lines.txt", "one\ntwo",
       [](const std::string& path) { return TextOf(Dataset::TextLine({path}, {.buffer_size = 1})); }},
      {"TextLine by its place", "lines.txt", "one\ntwo",
       [](const std::string& path) { return TextOf(Dataset::TextLine({path}).Shuffle(1)); }},
      Csv("Csv with a header", "age,name\n7,a\n", true, DType::kInt32),
      Csv("Csv with a quoted header", "\"age\",name\n7,a\n", true, DType::kInt32),
      Csv("Csv of numbers", "7,a\n8,b\n", false, DType::kInt32),
      Csv("Csv of quoted fields", "\"x, \"\"y\",a\n", false, DType::kString),
      {"vocabulary", "vocabulary.txt", "the\nof\n",
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const std::vector<std::string> tokens, ReadVocabulary(env(), path, 2));
         return absl::StrJoin(tokens, "|");
       }},
      {"metrics.jsonl", "metrics.jsonl", result,
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(EvalHistory history, ReadEvalHistory(env(), DirName(path)));
         return history.results[10].ToString();
       }},
      {"metrics.jsonl in curves", "eval/metrics.jsonl", result,
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(PlotRuns runs, ReadRuns(env(), {DirName(DirName(path))}));
         return absl::StrCat(runs.runs[0].parts["eval"]["loss"][0].value);
       }},
      {"DONE", "DONE", R"({"final_step": 7, "reason": "max_steps"})",
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const auto done, ReadDoneMarker(env(), DirName(path)));
         return done->reason;
       }},
      {"UNFINISHED", "UNFINISHED", R"({"first_step": 7})",
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const auto first, ReadUnfinishedMarker(env(), DirName(path)));
         return absl::StrCat(*first);
       }},
      {"kept_checkpoints.json", "kept_checkpoints.json", R"({"since": 1, "steps": [100, 250]})",
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const std::set<int64_t> steps, KeptByHours(env(), DirName(path), 1).Steps());
         return absl::StrJoin(steps, "|");
       }},
      Pointer(),
      {"plans", "plans.json", plans.ToJson(),
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const PlanChoices read, PlanChoices::Load(env(), path));
         return read.ToJson();
       }},
      {"machine model", "machine.txt", MachineModelText(*BuiltInMachineModel("zen4")),
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const MachineModel model, ChooseMachineModel(path, Program()));
         return MachineModelText(model);
       }},
      {"trace", "trace.json", Trace(),
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_RETURN_IF_ERROR(ReadProfile(path, Program()).status());
         return std::string("read");
       }},
      {"measured times", "times.csv", "bytes,processes,communication,seconds\n4096,2,tcp,0.5\n",
       [](const std::string& path) -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const MeasuredTimes times, MeasuredTimes::Read(path, ""));
         return absl::StrCat(times.Seconds(4096, 2));
       }},
  };
}

// ASCII in the code units of an encoding, its mark before it.
std::string Encoded(const std::string& text, absl::string_view mark, int before, int behind) {
  std::string bytes(mark);
  for (const char c : text)
    absl::StrAppend(&bytes, std::string(before, '\0'), std::string(1, c), std::string(behind, '\0'));
  return bytes;
}

TEST(TextEncodings, OfAllFilesThatAreReadAsText) {
  int number = 0;
  for (const Reader& reader : Readers()) {
    SCOPED_TRACE(reader.name);
    const std::string path = absl::StrCat(testing::TempDir(), "/encodings_", ++number, "/", reader.file);
    const auto read = [&](const std::string& bytes) -> absl::StatusOr<std::string> {
      TD_RETURN_IF_ERROR(env()->CreateDirs(DirName(path)));
      TD_RETURN_IF_ERROR(env()->WriteFile(path, {bytes}));
      return reader.read(path);
    };
    const auto plain = read(reader.text), marked = read(absl::StrCat("\xef\xbb\xbf", reader.text));
    ASSERT_TRUE(plain.ok()) << plain.status();
    ASSERT_TRUE(marked.ok()) << marked.status();
    EXPECT_EQ(*marked, *plain);
    const auto expect_error = [&](const std::string& bytes, const char* encoding, const char* converts) {
      const absl::Status status = read(bytes).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(absl::StrCat("/", reader.file, ": ")),
                        HasSubstr(absl::StrCat("at byte 0: the byte order mark of ", encoding)),
                        HasSubstr(absl::StrCat("iconv -f ", converts, " -t UTF-8"))));
    };
    expect_error(Encoded(reader.text, "\xff\xfe", 0, 1), "UTF-16LE", "UTF-16");
    expect_error(Encoded(reader.text, "\xfe\xff", 1, 0), "UTF-16BE", "UTF-16");
    expect_error(Encoded(reader.text, absl::string_view("\xff\xfe\0\0", 4), 0, 3), "UTF-32LE", "UTF-32");
    expect_error(Encoded(reader.text, absl::string_view("\0\0\xfe\xff", 4), 3, 0), "UTF-32BE", "UTF-32");
  }
}

}  // namespace
}  // namespace tandem
