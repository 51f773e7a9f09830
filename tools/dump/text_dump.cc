#include "tools/dump/text_dump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/count_text.h"
#include "base/json_string.h"
#include "tools/dump/gpu_dump.h"
#include "tools/dump/json_dump.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

std::string Bytes(int64_t n) {
  if (n >= (1 << 20)) return absl::StrFormat("%.2f MiB", n / 1048576.0);
  if (n >= (1 << 10)) return absl::StrFormat("%.1f KiB", n / 1024.0);
  return absl::StrCat(n, " B");
}

void Kernels(const Json& dump, std::string* out) {
  absl::StrAppend(out, "\nKernels (", dump["kernels"].size(), ")\n");
  for (const Json& k : dump["kernels"]) {
    absl::StrAppendFormat(
        out, "  %s  %s, %s\n", TextOf(k["name"]), TextOf(k["skeleton"]),
        k.contains("launch") ? GpuLaunchText(k) : absl::StrCat(Bytes(k["code_bytes"].get<int64_t>()), " of code"));
    const Json& users = k["users"];
    for (size_t i = 0; users.size() > 1 && i < users.size(); ++i) {
      absl::StrAppend(out, i == 0 ? "    launched by " : "                ", TextOf(users[i]["name"]), "  ",
                      TextOf(users[i]["source"]), "\n");
    }
    for (const Json& op : k["ops"]) {
      absl::StrAppendFormat(out, "    %-22s %-44s %s\n", TextOf(op["op"]),
                            op.contains("name") ? TextOf(op["name"]) : "",
                            op.contains("source") ? TextOf(op["source"]) : "");
    }
  }
}

// Describes how a command or a section is executed, as the compiler's phase `commands` has decided: ", inline, 2 lanes
// together" (without waking other threads, two parts of the batch at a time). Returns "" if it has decided nothing.
std::string Execution(const Json& j) {
  std::string text;
  if (j.contains("invariant")) text += ", invariant";
  if (j.contains("run_inline")) text += ", inline";
  if (j.contains("together")) absl::StrAppend(&text, ", ", TextOf(j["together"]), " together");
  if (j.contains("lanes_together")) absl::StrAppend(&text, ", ", TextOf(j["lanes_together"]), " lanes together");
  if (j.contains("joint")) text += ", joint";
  if (j.contains("overlap")) absl::StrAppend(&text, ", beside ", TextOf(j["overlap"]), " commands");
  if (j.contains("block_update"))
    absl::StrAppend(&text, ", block by block into ", TextOf(j["block_update"]["command"]));
  return text;
}

std::string SectionExecution(const Json& dump, const Json& name) {
  for (const Json& section : dump["sections"]) {
    if (section["section"] == name) return Execution(section);
  }
  return "";
}

void Commands(const Json& dump, std::string* out) {
  absl::StrAppend(out, "\nCommands", dump["executable"]["flat"].get<bool>() ? " (one list of calls)" : "", "\n");
  std::string section;
  for (const Json& s : dump["commands"]) {
    std::string here = absl::StrCat(s.contains("replica") ? TextOf(s["replica"]) + " " : "", TextOf(s["section"]), " (",
                                    TextOf(s["runs"]), SectionExecution(dump, s["section"]), ")");
    if (here != section) absl::StrAppend(out, "  ", section = here, "\n");
    absl::StrAppendFormat(out, "    %-14s %-44s %-40s %s -> %s%s\n", TextOf(s["kind"]), TextOf(s["name"]),
                          TextOf(s["summary"]), JsonString(s["inputs"]), JsonString(s["outputs"]), Execution(s));
  }
}

void Memory(const Json& dump, std::string* out) {
  const Json& m = dump["memory"];
  auto bytes = [&](const char* key) { return Bytes(m[key].get<int64_t>()); };
  absl::StrAppend(out, "\nMemory per device: peak ", bytes("peak_bytes_per_device"), "\n");
  absl::StrAppend(out, "  parameters ", bytes("parameter_bytes"), ", slots ", bytes("slot_bytes"), ", step arena ",
                  bytes("step_arena_bytes"), ", batch arena ", bytes("batch_arena_bytes"), "\n  lanes ",
                  TextOf(m["lanes_per_device"]), " x ", bytes("lane_slot_bytes"), ", microbatch arena ",
                  bytes("microbatch_arena_bytes_per_thread"), " per thread\n");
  for (const Json& arena : m["arenas"]) {
    absl::StrAppend(out, "  ", TextOf(arena["space"]), " arena, ", Bytes(arena["peak_bytes"].get<int64_t>()),
                    "; largest at the peak:\n");
    for (const Json& l : arena["live_at_peak"]) {
      absl::StrAppendFormat(out, "    %12s  %s\n", Bytes(l["bytes"].get<int64_t>()), TextOf(l["name"]));
    }
  }
  absl::StrAppend(out, "  buffers:\n");
  for (const Json& b : m["buffers"]) {
    absl::StrAppendFormat(
        out, "    %4d %-9s %-10s %12s  %-8s %-18s %s\n", b["buffer"].get<int>(), TextOf(b["space"]),
        b.contains("offset") ? absl::StrCat("+", TextOf(b["offset"])) : absl::StrCat("#", TextOf(b["index"])),
        Bytes(b["bytes"].get<int64_t>()), TextOf(b["dtype"]), TextOf(b["shape"]), TextOf(b["name"]));
  }
}

}  // namespace

std::string DumpText(const Json& dump) {
  const Json& e = dump["executable"];
  std::string out =
      absl::StrCat(TextOf(e["file"]), "\n", TextOf(e["mode"]), " executable for ", TextOf(e["target_name"]), ", key ",
                   TextOf(e["key"]), ", by ", TextOf(e["producer"]), "\n", TextOf(e["lanes"]), " lanes of ",
                   TextOf(e["rows_per_lane"]), " rows, microbatches of ", TextOf(e["microbatch_rows"]), " rows\n");
  if (const int64_t servers = e["parameter_servers"]; servers > 0) {
    const int64_t server = e["parameter_server"];
    const std::string whose = server < 0 ? absl::StrCat("a worker's, which sends what it computes to ",
                                                        CountText(servers, "parameter server"))
                                         : absl::StrCat("that of parameter server ps ", server, ", of ", servers);
    absl::StrAppend(&out, "part of the step: ", whose, "\n");
    for (int64_t s = 0; s < servers; ++s) {
      absl::StrAppend(&out, "  ps ", s, " keeps");
      const char* separator = " ";
      for (const Json& p : dump["placement"]) {
        if (p["server"] != s) continue;
        absl::StrAppend(&out, separator, TextOf(p["name"]));
        separator = ", ";
      }
      absl::StrAppend(&out, *separator == ' ' ? " nothing\n" : "\n");
    }
  }
  absl::StrAppend(&out, "\nReplicas\n");
  for (const Json& r : dump["replicas"])
    absl::StrAppend(&out, "  ", TextOf(r["name"]), " on ", TextOf(r["device"]), ", program ", TextOf(r["program"]),
                    "\n");
  absl::StrAppend(&out, "\nCollectives (", dump["collectives"].size(), ")\n");
  for (const Json& c : dump["collectives"]) {
    const std::string algorithm = TextOf(c["algorithm"]);
    absl::StrAppend(&out, "  seq ", TextOf(c["seq"]), "  ", TextOf(c["kind"]), "  bucket ", TextOf(c["bucket"]), "  ",
                    Bytes(c["bytes"].get<int64_t>()), "  group ", JsonString(c["group"]),
                    algorithm.empty() ? "" : absl::StrCat("  by ", algorithm), "\n");
    for (const Json& t : c["tensors"]) absl::StrAppend(&out, "    ", TextOf(t), "\n");
  }
  Kernels(dump, &out);
  Commands(dump, &out);
  out += GpuText(dump);
  Memory(dump, &out);
  absl::StrAppend(&out, "\nPhases with stored IR (--phase=NAME): ", JsonString(dump["phases"]), "\n");
  return out;
}

}  // namespace tandem
