#!/usr/bin/python3
"""package.py LISTING VERSION OUT: lays files out in the folder OUT as they are installed.

LISTING has a line "FILE<tab>PLACE" for each file or folder. Of a library lib/libNAME.so.VERSION there is also the link
that linkers look for. @VERSION@ in files *.in is what the file VERSION says, @SOVERSION@ its first two numbers.
"""
import os
import re
import shutil
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def place_file(source, place, path, version):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.endswith(".in"):
        text = read(source).replace("@VERSION@", version).replace("@SOVERSION@", version.rpartition(".")[0])
        with open(path[:-len(".in")], "w", encoding="utf-8") as written:
            written.write(text)
        return
    shutil.copyfile(source, path)
    os.chmod(path, 0o755 if place.startswith(("bin/", "lib/lib")) else 0o644)
    linked = re.match(r"lib/(lib\w+\.so)\.", place)
    if linked:
        os.symlink(os.path.basename(place), os.path.join(os.path.dirname(path), linked[1]))


def main():
    listing, version, out = sys.argv[1:]
    version = read(version).strip()
    for source, place in (line.split("\t") for line in read(listing).split("\n")):
        path = os.path.join(out, place)
        if os.path.isdir(source):
            shutil.copytree(source, path, dirs_exist_ok=True)
        else:
            place_file(source, place, path, version)


main()
