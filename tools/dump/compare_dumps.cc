#include "tools/dump/compare_dumps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tools/dump/json_dump.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// An entry of a list, such as an op or a buffer, that is searched for in the other program.
struct Compared {
  std::string name;   // the key by which entries are matched; includes the kind
  std::string value;  // the content that is compared
  std::string scope;  // for an op: the part of its name before the last '/'
  std::string source;
};

Json JsonOf(const Compared& item) {
  Json j = {{"name", item.name}, {"value", item.value}};
  if (!item.scope.empty()) j["scope"] = item.scope;
  if (!item.source.empty()) j["source"] = item.source;
  return j;
}

Json DifferencesOf(const std::vector<Compared>& a, const std::vector<Compared>& b) {
  std::map<std::string, std::vector<const Compared*>> of_b;
  for (const Compared& item : b) of_b[item.name].push_back(&item);
  std::map<std::string, size_t> met;
  Json only_a = Json::array(), only_b = Json::array(), changed = Json::array();
  int64_t equal = 0;
  for (const Compared& item : a) {
    const size_t number = met[item.name]++;
    const std::vector<const Compared*>& others = of_b[item.name];
    if (number >= others.size()) {
      only_a.push_back(JsonOf(item));
    } else if (others[number]->value != item.value) {
      Json j = JsonOf(item);
      j.erase("value");
      j["a"] = item.value;
      j["b"] = others[number]->value;
      changed.push_back(std::move(j));
    } else {
      ++equal;
    }
  }
  std::map<std::string, size_t> seen;
  for (const Compared& item : b) {
    const auto in_a = met.find(item.name);
    if (seen[item.name]++ >= (in_a == met.end() ? 0 : in_a->second)) only_b.push_back(JsonOf(item));
  }
  return {{"only_a", only_a}, {"only_b", only_b}, {"changed", changed}, {"equal", equal}};
}

std::vector<Compared> ComparedOps(const std::vector<IrOp>& ops) {
  std::vector<Compared> compared;
  for (const IrOp& op : ops) {
    const size_t slash = op.name.rfind('/');
    compared.push_back({.name = absl::StrCat(op.name, " ", op.op),
                        .value = op.type,
                        .scope = slash == std::string::npos ? op.name : op.name.substr(0, slash),
                        .source = op.source});
  }
  return compared;
}

// Converts the entries of a list. The values of `name_keys`, joined, are the key by which entries are matched; those of
// `value_keys` are the content that is compared.
std::vector<Compared> ComparedEntries(const Json& list, const std::vector<const char*>& name_keys,
                                      const std::vector<const char*>& value_keys) {
  const auto joined = [](const Json& entry, const std::vector<const char*>& keys) {
    return absl::StrJoin(keys, " ", [&](std::string* out, const char* key) { out->append(TextOf(entry[key])); });
  };
  std::vector<Compared> compared;
  for (const Json& entry : list) {
    compared.push_back({.name = joined(entry, name_keys),
                        .value = joined(entry, value_keys),
                        .source = entry.contains("source") ? TextOf(entry["source"]) : ""});
  }
  return compared;
}

std::vector<Compared> ComparedKernels(const Json& kernels) {
  std::vector<Compared> compared;
  for (const Json& kernel : kernels) {
    const std::string ops = absl::StrJoin(kernel["ops"], ", ", [](std::string* out, const Json& op) {
      out->append(op.contains("name") ? TextOf(op["name"]) : TextOf(op["op"]));
    });
    const Json& first = kernel["ops"].empty() ? Json() : kernel["ops"][0];
    compared.push_back({.name = ops,
                        .value = absl::StrCat(TextOf(kernel["skeleton"]), " over ", TextOf(kernel["domain"])),
                        .source = first.contains("source") ? TextOf(first["source"]) : ""});
  }
  return compared;
}

void AddIfDifferent(const std::string& name, const Json& a, const Json& b, Json* list) {
  if (a != b) list->push_back({{"name", name}, {"a", a}, {"b", b}});
}

Json SettingsOf(const Json& a, const Json& b) {
  Json settings = Json::array();
  for (const auto& [key, value] : a["executable"].items()) {
    if (key != "file" && key != "key") AddIfDifferent(key, value, b["executable"][key], &settings);
  }
  AddIfDifferent("replicas", a["replicas"], b["replicas"], &settings);
  return settings;
}

Json MemoryOf(const DumpedProgram& a, const DumpedProgram& b) {
  Json memory = Json::array();
  for (const auto& [key, value] : a.dump["memory"].items()) {
    if (value.is_number()) AddIfDifferent(key, value, b.dump["memory"][key], &memory);
  }
  if (a.expected_seconds >= 0 && b.expected_seconds >= 0) {
    AddIfDifferent("expected_step_ms", 1e3 * a.expected_seconds, 1e3 * b.expected_seconds, &memory);
  }
  return memory;
}

struct Part {
  const char *key, *title;
};
constexpr Part kParts[] = {
    {"ops", "Ops"},           {"variables", "Variables"},     {"kernels", "Kernels, by their ops"},
    {"commands", "Commands"}, {"collectives", "Collectives"}, {"buffers", "Buffers"}};

bool HasDifferences(const Json& part) {
  return !(part["only_a"].empty() && part["only_b"].empty() && part["changed"].empty());
}

std::string TitleOf(const Json& comparison, const Part& part) {
  const Json& p = comparison[part.key];
  return absl::StrCat(part.title,
                      part.key == std::string("ops") ? " of phase " + TextOf(comparison["phase"]) : std::string(), ": ",
                      p["only_a"].size(), " only in A, ", p["only_b"].size(), " only in B, ", p["changed"].size(),
                      " changed, ", TextOf(p["equal"]), " equal");
}

// A line in the list of differences: "-", "+" or "~", and the text.
struct Line {
  std::string sign, text;
};

std::string WithSource(std::string text, const Json& entry) {
  if (entry.contains("source")) absl::StrAppend(&text, "  ", TextOf(entry["source"]));
  return text;
}

// Returns a line for each difference. With `by_scope`, returns a line for each scope, which shows the first difference
// in the scope and the number of further ones.
std::vector<Line> LinesOf(const Json& part, bool by_scope) {
  std::vector<Line> lines;
  for (const auto& [key, sign] : {std::make_pair("only_a", "-"), {"only_b", "+"}, {"changed", "~"}}) {
    std::map<std::string, size_t> line_of;
    std::map<size_t, size_t> more;  // for a line's index, the number of further differences in its scope
    for (const Json& e : part[key]) {
      if (by_scope) {
        const auto [known, added] = line_of.try_emplace(e.contains("scope") ? TextOf(e["scope"]) : "", lines.size());
        if (!added) {
          ++more[known->second];
          continue;
        }
      }
      const std::string value =
          e.contains("value") ? TextOf(e["value"]) : absl::StrCat(TextOf(e["a"]), " -> ", TextOf(e["b"]));
      lines.push_back({sign, WithSource(absl::StrCat(TextOf(e["name"]), "  ", value), e)});
    }
    for (const auto& [line, count] : more) absl::StrAppend(&lines[line].text, "  and ", count, " more");
  }
  return lines;
}

std::vector<Line> ValuesOf(const Json& list) {
  std::vector<Line> lines;
  for (const Json& e : list) {
    std::string text = absl::StrCat(TextOf(e["name"]), "  ", TextOf(e["a"]), " -> ", TextOf(e["b"]));
    if (e["a"].is_number() && e["b"].is_number() && e["a"].get<double>() > 0) {
      absl::StrAppendFormat(&text, "  (%.3g times)", e["b"].get<double>() / e["a"].get<double>());
    }
    lines.push_back({"~", std::move(text)});
  }
  return lines;
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace

Json CompareDumps(const std::string& phase, const DumpedProgram& a, const DumpedProgram& b) {
  const auto entries = [&](const char* list, const std::vector<const char*>& names,
                           const std::vector<const char*>& values) {
    return DifferencesOf(ComparedEntries(a.dump[list], names, values), ComparedEntries(b.dump[list], names, values));
  };
  return {
      {"a", a.dump["executable"]["file"]},
      {"b", b.dump["executable"]["file"]},
      {"settings", SettingsOf(a.dump, b.dump)},
      {"phase", phase},
      {"ops", DifferencesOf(ComparedOps(a.ops), ComparedOps(b.ops))},
      {"variables", entries("variables", {"name"}, {"dtype", "shape", "trainable", "updated"})},
      {"kernels", DifferencesOf(ComparedKernels(a.dump["kernels"]), ComparedKernels(b.dump["kernels"]))},
      {"commands", entries("commands", {"name", "kind"}, {"summary"})},
      {"collectives", entries("collectives", {"kind", "tensors"}, {"bytes", "dtype", "algorithm"})},
      {"buffers", DifferencesOf(ComparedEntries(a.dump["memory"]["buffers"], {"name", "space"}, {"dtype", "shape"}),
                                ComparedEntries(b.dump["memory"]["buffers"], {"name", "space"}, {"dtype", "shape"}))},
      {"memory", MemoryOf(a, b)}};
}

std::string ComparisonText(const Json& comparison) {
  constexpr size_t kShown = 6;
  std::string out = absl::StrCat("A (-): ", TextOf(comparison["a"]), "\nB (+): ", TextOf(comparison["b"]), "\n");
  bool differ = false;
  const auto append = [&](const std::string& title, const std::vector<Line>& lines) {
    absl::StrAppend(&out, "\n", title, "\n");
    for (size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
      absl::StrAppend(&out, "  ", lines[i].sign, " ", lines[i].text, "\n");
    }
    if (lines.size() > kShown) {
      absl::StrAppend(&out, "  ... and ", lines.size() - kShown, " lines more (--format=json or html has all)\n");
    }
    differ = true;
  };
  if (!comparison["settings"].empty()) append("Settings", ValuesOf(comparison["settings"]));
  for (const Part& part : kParts) {
    const Json& p = comparison[part.key];
    if (!HasDifferences(p)) continue;
    append(TitleOf(comparison, part), LinesOf(p, /*by_scope=*/part.key == std::string("ops")));
  }
  if (!comparison["memory"].empty()) append("Bytes and times", ValuesOf(comparison["memory"]));
  if (!differ) absl::StrAppend(&out, "\nThe programs are equal in all of these.\n");
  return out;
}

std::string ComparisonHtml(const Json& comparison) {
  std::string out = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Two programs</title><style>\n"
      "body { font: 14px/1.4 sans-serif; margin: 24px; } td { font: 13px monospace; padding: 1px 12px 1px 0; }\n"
      ".a { background: #fbe4e4; } .b { background: #e2f3e4; } .c { background: #fdf3d8; }\n"
      "</style></head><body>\n<h1>Two programs</h1>\n<p class=\"a\">A: ",
      Escaped(TextOf(comparison["a"])), "</p>\n<p class=\"b\">B: ", Escaped(TextOf(comparison["b"])), "</p>\n");
  const auto append = [&](const std::string& title, const std::vector<Line>& lines) {
    absl::StrAppend(&out, "<h2>", Escaped(title), "</h2>\n<table>\n");
    for (const Line& line : lines) {
      const char* style = line.sign == "-" ? "a" : line.sign == "+" ? "b" : "c";
      absl::StrAppend(&out, "<tr class=\"", style, "\"><td>", line.sign, "</td><td>", Escaped(line.text),
                      "</td></tr>\n");
    }
    out += "</table>\n";
  };
  append("Settings", ValuesOf(comparison["settings"]));
  for (const Part& part : kParts) append(TitleOf(comparison, part), LinesOf(comparison[part.key], /*by_scope=*/false));
  append("Bytes and times", ValuesOf(comparison["memory"]));
  return out + "</body></html>\n";
}

}  // namespace tandem
