"""code_blocks.py PAGE...: prints the C++ blocks of Markdown pages, so that a test compiles and calls them.

A block that ends with a brace at the start of a line defines functions or a class and stays as it is. Any other is statements:
the i-th of these becomes `absl::Status Block<i>(const std::string& folder)`, and kBlocks is the list of all.
"""
import re
import sys


def main():
    blocks = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as page:
            blocks += re.findall(r"^```cpp\n(.*?)^```$", page.read(), re.M | re.S)
    names = []
    for block in blocks:
        if block.endswith(("\n}\n", "\n};\n")):
            print(block)
            continue
        names.append("Block%d" % len(names))
        print("absl::Status %s(const std::string& folder) {\n%s  return absl::OkStatus();\n}\n" % (names[-1], block))
    if names:
        print("constexpr absl::Status (*kBlocks[])(const std::string& folder) = {%s};" % ", ".join(names))


if __name__ == "__main__":
    main()
