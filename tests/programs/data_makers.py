"""Small data sets that the programs learn from, made with fixed seeds: what there is to find in them is said at each."""
import math
import os
import random
import struct
import zlib


def write_csv(path, header, rows):
    with open(path, "w") as f:
        for row in [header, *rows]:
            f.write(",".join(str(field) for field in row) + "\n")


def write_idx(path, shape, values, kind):
    """`kind`: "f" for float32, "i" for int32."""
    header = struct.pack(f">HBB{len(shape)}I", 0, {"f": 0x0D, "i": 0x0C}[kind], len(shape), *shape)
    with open(path, "wb") as f:
        f.write(header + struct.pack(f">{len(values)}{kind}", *values))


def write_png(path, size, pixels):
    """A square picture in grey; `pixels`: bytes, row by row."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    rows = b"".join(b"\0" + pixels[y * size:(y + 1) * size] for y in range(size))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def customers(folder):
    """train.csv, test.csv: what a customer spends follows from job and income, whether he stays from city and age. A
    tenth of the fields is empty, and the test has a city that the training has not."""
    source = random.Random(1)
    jobs = {"baker": 1, "clerk": 2, "smith": 3, "nurse": 4, "judge": 6}
    cities = {"Ulm": 1, "Bonn": -1, "Jena": 1, "Kiel": -1}
    for name, count in (("train.csv", 2000), ("test.csv", 400)):
        rows = []
        for i in range(count):
            job, city = source.choice(list(jobs)), source.choice(list(cities))
            age, income = source.randint(18, 80), source.uniform(10, 100)
            spending = jobs[job] + income / 20 + source.gauss(0, 0.2)
            stays = int(cities[city] + (49 - age) / 20 > 0)
            fields = [age, f"{income:.1f}", job, city if name == "train.csv" or i % 50 else "Rome"]
            rows.append([field if source.random() > 0.1 else "" for field in fields] + [f"{spending:.2f}", stays])
        write_csv(os.path.join(folder, name), ["age", "income", "job", "city", "spending", "stays"], rows)


def reviews(folder):
    """train.csv, test.csv: one word of a text says how it is meant, and a "not" anywhere turns it around."""
    source = random.Random(2)
    good, bad = ["fine", "great", "lovely", "superb"], ["dull", "awful", "boring", "bad"]
    others = ["word%d" % i for i in range(50)]
    for name, count in (("train.csv", 3000), ("test.csv", 500)):
        rows = []
        for _ in range(count):
            label, negated = source.randrange(2), source.randrange(2)
            words = [source.choice(others) for _ in range(source.randint(2, 12))]
            words.append(source.choice(good if label != negated else bad))
            words += ["not"] * negated
            source.shuffle(words)
            rows.append([label, " ".join(words)])
        write_csv(os.path.join(folder, name), ["label", "text"], rows)


PATTERNS = {
    "bars": lambda x, y, step: x // step % 2,
    "beams": lambda x, y, step: y // step % 2,
    "checks": lambda x, y, step: (x // step + y // step) % 2,
    "rings": lambda x, y, step: int(math.hypot(x - 12, y - 12)) // step % 2,
}


def pattern(source, kind, size):
    """Grey bytes of a pattern at a random place and of a random width, with noise."""
    dx, dy, step = source.randrange(6), source.randrange(6), source.choice([2, 3])
    light = source.uniform(60, 120)
    shape = PATTERNS[kind]
    return bytes(min(255, max(0, int(70 + light * shape(x + dx, y + dy, step) + source.gauss(0, 15))))
                 for y in range(size) for x in range(size))


def pictures(folder, size=24):
    """train/CLASS/*.png and test/CLASS/*.png."""
    source = random.Random(3)
    for split, count in (("train", 80), ("test", 25)):
        for kind in PATTERNS:
            os.makedirs(os.path.join(folder, split, kind))
            for i in range(count):
                write_png(os.path.join(folder, split, kind, "%03d.png" % i), size, pattern(source, kind, size))


def patterns(folder, size=12):
    """train-images, train-labels, test-images, test-labels (IDX): the same as float32 [n, size, size, 1] and int32 [n]."""
    source = random.Random(4)
    kinds = list(PATTERNS)
    for split, count in (("train", 1200), ("test", 300)):
        labels = [source.randrange(len(kinds)) for _ in range(count)]
        values = [value / 255 for label in labels for value in pattern(source, kinds[label], size)]
        write_idx(os.path.join(folder, split + "-images"), (count, size, size, 1), values, "f")
        write_idx(os.path.join(folder, split + "-labels"), (count,), labels, "i")


def views(folder):
    """train-left, train-right, test-left, test-right (IDX, float32 [n, 32]): two views of each thing. What they share
    has four dimensions; what differs from view to view has four others, and is three times as large."""
    source = random.Random(5)

    def directions():
        return [[source.gauss(0, 1) / 2 for _ in range(32)] for _ in range(4)]

    shared, other = directions(), directions()
    for split, count in (("train", 2048), ("test", 512)):
        sides = {"left": [], "right": []}
        for _ in range(count):
            thing = [source.gauss(0, 1) for _ in range(4)]
            for values in sides.values():
                nuisance = [source.gauss(0, 3) for _ in range(4)]
                values += [sum(a * d[i] for a, d in zip(thing + nuisance, shared + other)) + source.gauss(0, 0.1)
                           for i in range(32)]
        for side, values in sides.items():
            write_idx(os.path.join(folder, f"{split}-{side}"), (count, 32), values, "f")


def blobs(folder, size=12):
    """train-images, test-images (IDX, float32 [n, size, size, 1]): a round spot at a random place."""
    source = random.Random(6)
    for split, count in (("train", 1024), ("test", 256)):
        values = []
        for _ in range(count):
            cx, cy, radius = source.uniform(3, size - 3), source.uniform(3, size - 3), source.uniform(1.5, 2.5)
            values += [math.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * radius ** 2))
                       for y in range(size) for x in range(size)]
        write_idx(os.path.join(folder, split + "-images"), (count, size, size, 1), values, "f")


def sales(folder):
    """sales.csv: a shop's days, with a week, a year, a slow rise, and noise that grows with the sales."""
    source = random.Random(7)
    rows = []
    for day in range(1200):
        level = 10 + day / 200 + 2 * math.sin(2 * math.pi * day / 365) + [0, 0, 1, 2, 4, 6, -3][day % 7]
        rows.append([day, f"{level * (1 + source.gauss(0, 0.05)):.3f}"])
    write_csv(os.path.join(folder, "sales.csv"), ["day", "sales"], rows)


def ring(folder):
    """points.csv: points at a distance of about 2 from the origin, in all directions."""
    source = random.Random(8)
    rows = []
    for _ in range(2048):
        angle, distance = source.uniform(0, 2 * math.pi), source.gauss(2, 0.1)
        rows.append([f"{distance * math.cos(angle):.4f}", f"{distance * math.sin(angle):.4f}"])
    write_csv(os.path.join(folder, "points.csv"), ["x", "y"], rows)
