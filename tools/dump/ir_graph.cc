#include "tools/dump/ir_graph.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '#'; }

// The values used in `text`: "%12", "%22#1". Quoted strings are skipped.
std::vector<std::string> ValuesIn(absl::string_view text) {
  std::vector<std::string> values;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted || text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    values.emplace_back(text.substr(i, end - i));
    i = end - 1;
  }
  return values;
}

// The first name and "file:line" in `loc("name"("file":line:column))` at `text`; of a fused location, the first one's.
void ParseLocation(absl::string_view text, IrOp* op) {
  const size_t open = text.find('"');
  if (open == absl::string_view::npos) return;
  const size_t close = text.find('"', open + 1);
  if (close == absl::string_view::npos) return;
  op->name = std::string(text.substr(open + 1, close - open - 1));
  absl::string_view rest = text.substr(close + 1);
  if (!absl::ConsumePrefix(&rest, "(\"")) return;
  const size_t end = rest.find('"');
  if (end == absl::string_view::npos || end + 1 >= rest.size() || rest[end + 1] != ':') return;
  const std::vector<absl::string_view> numbers = absl::StrSplit(rest.substr(end + 2), absl::MaxSplits(':', 1));
  int line = 0;
  if (absl::SimpleAtoi(numbers[0], &line)) op->source = absl::StrCat(rest.substr(0, end), ":", line);
}

// "tensor<?x3xf32>" as people write it: "?x3xf32".
std::string ShortType(absl::string_view type) {
  type = absl::StripPrefix(type, "tensor<");
  return std::string(type.substr(0, type.find('>')));
}

// Of "(a, b) -> (c, d)", "a -> c", "a, c" or "c": the first result's, c.
std::string ResultType(absl::string_view text) {
  if (size_t at = text.rfind(" -> "); at != absl::string_view::npos) {
    text.remove_prefix(at + 4);
    absl::ConsumePrefix(&text, "(");
  } else if (at = text.rfind(" : "); at != absl::string_view::npos) {
    at = text.rfind("tensor<");
    text.remove_prefix(at == absl::string_view::npos ? text.size() : at);
  } else {
    return "";
  }
  return absl::StartsWith(text, "tensor<") ? ShortType(text) : "";
}

struct Line {
  IrOp op;
  std::vector<std::string> results, operands;
  int num_results = 0;
  bool opens_region = false;
};

struct Function {
  std::vector<std::pair<std::string, IrOp>> arguments;  // value and what is known of it
  std::vector<Line> lines;                              // empty op: the end of a region
};

// "%0: tensor<f32> {...} loc(...), %1: ..." as arguments.
std::vector<std::pair<std::string, IrOp>> ParseArguments(absl::string_view text) {
  std::vector<std::pair<std::string, IrOp>> arguments;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted || text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    absl::string_view rest = text.substr(end);
    if (!absl::ConsumePrefix(&rest, ": ")) continue;
    IrOp op;
    op.op = "argument";
    op.type = absl::StartsWith(rest, "tensor<") ? ShortType(rest) : "";
    const size_t next = rest.find(", %"), loc = rest.find(" loc(");
    if (loc < next) ParseLocation(rest.substr(loc), &op);
    arguments.emplace_back(std::string(text.substr(i, end - i)), std::move(op));
    i = end - 1;
  }
  return arguments;
}

Line ParseOp(absl::string_view text) {
  Line line;
  line.opens_region = absl::EndsWith(text, "{");
  const size_t loc = text.rfind(" loc(");
  absl::string_view body = text.substr(0, loc);
  if (loc != absl::string_view::npos) ParseLocation(text.substr(loc), &line.op);
  const size_t equals = body.find(" = ");
  if (absl::StartsWith(body, "%") && equals != absl::string_view::npos) {
    absl::string_view result = body.substr(0, equals);
    const std::vector<absl::string_view> parts = absl::StrSplit(result, ':');
    line.num_results = 1;
    if (parts.size() == 2 && !absl::SimpleAtoi(parts[1], &line.num_results)) line.num_results = 1;
    line.results.emplace_back(parts[0]);
    body.remove_prefix(equals + 3);
  }
  const bool quoted = absl::ConsumePrefix(&body, "\"");  // the generic form: "td.add"(%0, %1)
  size_t end = 0;
  while (end < body.size() && IsNameCharacter(body[end])) ++end;
  line.op.op = std::string(body.substr(0, end));
  body.remove_prefix(std::min(body.size(), end + quoted));
  line.op.type = ResultType(body);
  if (size_t at = body.find('@'); at != absl::string_view::npos && absl::StrContains(line.op.op, "launch")) {
    size_t stop = at + 1;
    while (stop < body.size() && IsNameCharacter(body[stop])) ++stop;
    line.op.kernel = std::string(body.substr(at + 1, stop - at - 1));
  }
  // What a library op calls is more than "td.library_call".
  if (line.op.op == "td.library_call") {
    const std::vector<absl::string_view> quoted = absl::StrSplit(body, absl::MaxSplits('"', 2));
    if (quoted.size() == 3) line.op.op = absl::StrCat("library ", quoted[1]);
  }
  line.operands = ValuesIn(body);
  return line;
}

class GraphReader {
 public:
  std::vector<IrOp> Read(absl::string_view module) {
    for (absl::string_view raw : absl::StrSplit(module, '\n')) ReadLine(absl::StripAsciiWhitespace(raw));
    for (const char* name : {"step", "main"}) {
      auto it = functions_.find(name);
      if (it == functions_.end()) continue;
      std::map<std::string, int> values;
      for (const auto& [value, op] : it->second.arguments) values[value] = Add(op, -1);
      AddLines(it->second, -1, &values);
      break;
    }
    return std::move(ops_);
  }

 private:
  void ReadLine(absl::string_view text) {
    if (absl::StartsWith(text, "func.func ")) {
      const size_t at = text.find('@'), open = text.find('(');
      if (at == absl::string_view::npos || open == absl::string_view::npos || open < at) return;
      current_ = &functions_[std::string(text.substr(at + 1, open - at - 1))];
      // Results have attributes with names of variables, but no values.
      current_->arguments = ParseArguments(text);
      depth_ = 0;
    } else if (current_ == nullptr || text.empty()) {
      return;
    } else if (absl::StartsWith(text, "}")) {
      if (depth_-- == 0) {
        current_ = nullptr;
      } else {
        current_->lines.push_back({});
      }
    } else if (absl::StartsWith(text, "^")) {
      Line block;
      block.op.op = "^";
      for (auto& argument : ParseArguments(text)) block.results.push_back(std::move(argument.first));
      current_->lines.push_back(std::move(block));
    } else {
      Line line = ParseOp(text);
      if (line.op.op.empty()) return;
      depth_ += line.opens_region;
      current_->lines.push_back(std::move(line));
    }
  }

  int Add(IrOp op, int parent) {
    op.parent = parent;
    std::sort(op.inputs.begin(), op.inputs.end());
    op.inputs.erase(std::unique(op.inputs.begin(), op.inputs.end()), op.inputs.end());
    ops_.push_back(std::move(op));
    return static_cast<int>(ops_.size()) - 1;
  }

  // "%22#1" is a value of its own where it is known, else one of op "%22".
  static int Find(const std::map<std::string, int>& values, const std::string& value) {
    auto it = values.find(value);
    if (it == values.end()) it = values.find(value.substr(0, value.find('#')));
    return it == values.end() ? -1 : it->second;
  }

  void AddLines(const Function& function, int parent, std::map<std::string, int>* values) {
    struct Region {
      int op;
      std::string result;
      std::vector<std::string> operands;
    };
    std::vector<Region> regions;
    for (const Line& line : function.lines) {
      if (line.op.op.empty()) {
        if (!regions.empty()) regions.pop_back();
        continue;
      }
      if (line.op.op == "^") {  // arguments of the region are the operands of the op around it
        for (size_t i = 0; !regions.empty() && i < std::min(line.results.size(), regions.back().operands.size()); ++i) {
          (*values)[line.results[i]] = Find(*values, regions.back().operands[i]);
        }
        continue;
      }
      if (line.op.op == "td.yield" || line.op.op == "return" || line.op.op == "func.return") {
        // Result i of the op around is operand i.
        for (size_t i = 0; !regions.empty() && i < line.operands.size(); ++i) {
          (*values)[absl::StrCat(regions.back().result, "#", i)] = Find(*values, line.operands[i]);
          if (line.operands.size() == 1) (*values)[regions.back().result] = Find(*values, line.operands[i]);
        }
        continue;
      }
      IrOp op = line.op;
      for (const std::string& value : line.operands) {
        if (const int input = Find(*values, value); input >= 0) op.inputs.push_back(input);
      }
      const int id = Add(op, regions.empty() ? parent : regions.back().op);
      if (!line.results.empty()) (*values)[line.results[0]] = id;
      if (line.opens_region) {
        regions.push_back({id, line.results.empty() ? "" : line.results[0], line.operands});
      } else if (!line.op.kernel.empty()) {
        AddKernel(line, id, *values);
      }
    }
  }

  void AddKernel(const Line& launch, int id, const std::map<std::string, int>& outer) {
    auto it = functions_.find(launch.op.kernel);
    if (it == functions_.end() || in_kernel_) return;  // kernels launch none, whatever the text says
    std::map<std::string, int> values;
    const auto& arguments = it->second.arguments;
    for (size_t i = 0; i < std::min(arguments.size(), launch.operands.size()); ++i) {
      values[arguments[i].first] = Find(outer, launch.operands[i]);
    }
    in_kernel_ = true;
    AddLines(it->second, id, &values);
    in_kernel_ = false;
  }

  std::map<std::string, Function> functions_;
  Function* current_ = nullptr;
  int depth_ = 0;
  bool in_kernel_ = false;
  std::vector<IrOp> ops_;
};

}  // namespace

std::vector<IrOp> ParseIrGraph(absl::string_view module) { return GraphReader().Read(module); }

}  // namespace tandem
