#include "passes/analysis/machine_model.h"

#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "passes/analysis/machine_model_targets.h"

namespace tandem {
namespace {

struct Field {
  const char* name;
  double MachineModel::*member;
  const char* unit;
  double scale;  // the size of one `unit` in SI units
};

constexpr char kLibraryTf32[] = "library_tf32", kVectorF64[] = "vector_f64";
constexpr double kGiga = 1e9, kKibi = 1024, kNano = 1e-9;
constexpr Field kFields[] = {
    {"library_f32", &MachineModel::library_f32, "GFLOP/s", kGiga},
    {"library_bf16", &MachineModel::library_bf16, "GFLOP/s", kGiga},
    {kLibraryTf32, &MachineModel::library_tf32, "GFLOP/s", kGiga},
    {"vector_f32", &MachineModel::vector_f32, "GFLOP/s", kGiga},
    {kVectorF64, &MachineModel::vector_f64, "GFLOP/s", kGiga},
    {"vector_bf16", &MachineModel::vector_bf16, "GFLOP/s", kGiga},
    {"transcendentals", &MachineModel::transcendentals, "Gcall/s", kGiga},
    {"l1_bytes", &MachineModel::l1_bytes, "KiB", kKibi},
    {"l2_bytes", &MachineModel::l2_bytes, "KiB", kKibi},
    {"l3_bytes", &MachineModel::l3_bytes, "KiB", kKibi},
    {"l1_bandwidth", &MachineModel::l1_bandwidth, "GB/s", kGiga},
    {"l2_bandwidth", &MachineModel::l2_bandwidth, "GB/s", kGiga},
    {"l3_bandwidth", &MachineModel::l3_bandwidth, "GB/s", kGiga},
    {"dram_bandwidth", &MachineModel::dram_bandwidth, "GB/s", kGiga},
    {"l3_bandwidth_machine", &MachineModel::l3_bandwidth_machine, "GB/s", kGiga},
    {"dram_bandwidth_machine", &MachineModel::dram_bandwidth_machine, "GB/s", kGiga},
    {"library_call_overhead", &MachineModel::library_call_overhead, "ns", kNano},
    {"kernel_call_overhead", &MachineModel::kernel_call_overhead, "ns", kNano},
    {"section_overhead", &MachineModel::section_overhead, "ns", kNano},
    {"direct_filter_grad_width", &MachineModel::direct_filter_grad_width, "pixels", 1},
};

const Field* FindField(absl::string_view name) {
  for (const Field& f : kFields) {
    if (name == f.name) return &f;
  }
  return nullptr;
}

std::string FieldNames() {
  return absl::StrJoin(kFields, ", ", [](std::string* out, const Field& f) { absl::StrAppend(out, f.name); });
}

absl::Status Bad(absl::string_view file, int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", what));
}

// Parses one line, without white space around it, that is neither empty nor a comment.
absl::Status ParseLine(absl::string_view file, int number, absl::string_view line, std::set<std::string>& seen,
                       MachineModel& model) {
  const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits('#', 1));
  const std::vector<absl::string_view> sides = absl::StrSplit(halves[0], absl::MaxSplits('=', 1));
  if (sides.size() != 2) return Bad(file, number, "expected `name = value  # unit`");
  const absl::string_view name = absl::StripAsciiWhitespace(sides[0]), value = absl::StripAsciiWhitespace(sides[1]);
  const Field* field = FindField(name);
  if (field == nullptr) return Bad(file, number, absl::StrCat("unknown name \"", name, "\"; names are ", FieldNames()));
  if (!seen.insert(std::string(name)).second) return Bad(file, number, absl::StrCat(name, " is set twice"));
  double number_value = 0;
  if (!absl::SimpleAtod(value, &number_value) || !std::isfinite(number_value) || number_value <= 0) {
    return Bad(file, number, absl::StrCat(name, " must be a positive number, not \"", value, "\""));
  }
  const absl::string_view comment = halves.size() > 1 ? absl::StripAsciiWhitespace(halves[1]) : "";
  const std::vector<absl::string_view> words = absl::StrSplit(comment, absl::ByAnyChar(" \t,;"));
  if (words[0] != field->unit) {
    return Bad(file, number,
               absl::StrCat(name, " is in ", field->unit, ": write `", name, " = ", value, "  # ", field->unit, "`"));
  }
  model.*field->member = number_value * field->scale;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MachineModel> ParseMachineModel(absl::string_view file, absl::string_view text) {
  MachineModel model;
  std::vector<absl::string_view> path = absl::StrSplit(file, '/');
  model.name = std::string(absl::StripSuffix(path.back(), ".txt"));
  std::set<std::string> seen;
  int number = 0;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line[0] == '#') continue;
    if (absl::Status s = ParseLine(file, number, line, seen, model); !s.ok()) return s;
  }
  if (seen.insert(kLibraryTf32).second) model.library_tf32 = model.library_f32;
  if (seen.insert(kVectorF64).second) model.vector_f64 = model.vector_f32 / 2;
  for (const Field& f : kFields) {
    if (!seen.count(f.name)) {
      return Bad(file, number, absl::StrCat(f.name, " is missing: add `", f.name, " = VALUE  # ", f.unit, "`"));
    }
  }
  return model;
}

std::string MachineModelText(const MachineModel& model) {
  std::string text;
  for (const Field& f : kFields) {
    absl::StrAppendFormat(&text, "%s = %.6g  # %s\n", f.name, model.*f.member / f.scale, f.unit);
  }
  return text;
}

absl::StatusOr<MachineModel> BuiltInMachineModel(absl::string_view name) {
  for (const MachineModelTarget& target : kMachineModelTargets) {
    if (name == target.name) return ParseMachineModel(absl::StrCat(target.name, ".txt"), target.text);
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no machine model \"", name, "\"; there are ",
                                                 absl::StrJoin(BuiltInMachineModelNames(), ", ")));
}

std::vector<std::string> BuiltInMachineModelNames() {
  std::vector<std::string> names;
  for (const MachineModelTarget& target : kMachineModelTargets) names.push_back(target.name);
  return names;
}

std::string MachineModelNameFor(absl::string_view cpu, int vector_bits, bool has_matrix_unit) {
  if (cpu == "znver4" || cpu == "znver5") return "zen4";
  if (has_matrix_unit) return "sapphirerapids";
  return vector_bits >= 512 ? "generic-avx512" : "generic-avx2";
}

}  // namespace tandem
