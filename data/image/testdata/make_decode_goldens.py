"""make_decode_goldens.py: writes decode.safetensors: JPEG and PNG files, and what TensorFlow 2.15 decodes them to.

NAME/file holds the bytes of a picture; NAME/c0, c1, ... the result of decode_jpeg or decode_png with that number of
channels; NAME/c0_16, ... that of decode_png with dtype uint16, as int32; NAME/ratio2, ... of decode_jpeg with ratio 2;
NAME/fast that of decode_jpeg with dct_method INTEGER_FAST, TensorFlow's default.
Needs TensorFlow 2.15 and NumPy; run it in this folder.
"""
import struct
import zlib

import numpy as np
import tensorflow as tf

import safetensors_file

arrays = {}


def picture(height, width, channels, seed):
    """Smooth waves with some noise: all frequencies, no flat areas."""
    random = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (3.0 + c) + seed) + np.cos(y / (4.0 + 2 * c)) for c in range(channels)]
    values = 128 + 50 * np.stack(waves, -1) + random.randn(height, width, channels) * 12
    return np.clip(values, 0, 255).astype(np.uint8)


def add_jpeg(name, data, channels=(0, 1, 3), ratios=()):
    arrays[name + "/file"] = np.frombuffer(data, np.uint8)
    for c in channels:
        arrays["%s/c%d" % (name, c)] = tf.io.decode_jpeg(data, c, dct_method="INTEGER_ACCURATE").numpy()
    arrays[name + "/fast"] = tf.io.decode_jpeg(data).numpy()
    for r in ratios:
        arrays["%s/ratio%d" % (name, r)] = tf.io.decode_jpeg(data, ratio=r, dct_method="INTEGER_ACCURATE").numpy()


def add_png(name, data, channels=(0, 1, 3, 4), bits=(8, 16)):
    arrays[name + "/file"] = np.frombuffer(data, np.uint8)
    for c in channels:
        if 8 in bits:
            arrays["%s/c%d" % (name, c)] = tf.io.decode_png(data, c).numpy()
        if 16 in bits:
            arrays["%s/c%d_16" % (name, c)] = tf.io.decode_png(data, c, dtype=tf.uint16).numpy().astype(np.int32)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack(rows, bits):
    """Rows of samples with filter 0, as PNG stores them."""
    out = b""
    for row in rows:
        flat = row.reshape(-1)
        if bits == 16:
            out += b"\0" + flat.astype(">u2").tobytes()
        elif bits == 8:
            out += b"\0" + flat.astype(np.uint8).tobytes()
        else:
            per_byte = 8 // bits
            flat = np.pad(flat, (0, -len(flat) % per_byte)).reshape(-1, per_byte).astype(np.uint32)
            shifts = np.arange(per_byte)[::-1] * bits
            out += b"\0" + (flat << shifts).sum(1).astype(np.uint8).tobytes()
    return out


# Adam7: first row, first column, row step, column step of each pass (PNG specification, 8.2).
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def png(samples, colour_type, bits, interlaced=False, chunks=()):
    """`samples`: [height, width, channels], in the file's values."""
    height, width = samples.shape[:2]
    parts = [samples[y::dy, x::dx] for y, x, dy, dx in ADAM7] if interlaced else [samples]
    data = b"".join(pack(p, bits) for p in parts if p.size)
    header = struct.pack(">IIBBBBB", width, height, bits, colour_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(k, d) for k, d in chunks) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def main():
    rgb, grey = picture(37, 53, 3, 1), picture(29, 45, 1, 2)
    add_jpeg("rgb420", tf.io.encode_jpeg(rgb, quality=90).numpy(), ratios=(2, 4, 8))
    add_jpeg("rgb444", tf.io.encode_jpeg(rgb, quality=75, chroma_downsampling=False).numpy())
    add_jpeg("progressive", tf.io.encode_jpeg(rgb, progressive=True).numpy(), ratios=(2,))
    add_jpeg("grey", tf.io.encode_jpeg(grey).numpy(), ratios=(4,))
    add_jpeg("one_pixel", tf.io.encode_jpeg(rgb[:1, :1]).numpy())

    # To grey only where red, green and blue weigh alike: TensorFlow's weights of green and blue are exchanged.
    add_png("rgb8", tf.io.encode_png(rgb[:11, :13]).numpy(), channels=(0, 3, 4))
    add_png("grey8", tf.io.encode_png(grey[:11, :13]).numpy())
    add_png("grey_alpha8", tf.io.encode_png(picture(7, 9, 2, 3)).numpy())
    add_png("rgba8", tf.io.encode_png(picture(7, 9, 4, 4)).numpy(), channels=(0, 3, 4))
    wide = np.random.RandomState(5).randint(0, 65536, (6, 5, 4)).astype(np.uint16)
    add_png("grey16", tf.io.encode_png(wide[:, :, :1]).numpy())
    add_png("rgb16", tf.io.encode_png(wide[:, :, :3]).numpy(), channels=(0, 3, 4))
    add_png("rgba16", tf.io.encode_png(wide).numpy(), channels=(0, 3, 4))
    random = np.random.RandomState(6)
    for bits in (1, 2, 4):
        add_png("grey%d" % bits, png(random.randint(0, 1 << bits, (9, 11, 1)), 0, bits), channels=(0, 1, 3))
    for bits in (1, 4, 8):
        palette = random.randint(0, 256, (1 << bits, 3)).astype(np.uint8)
        samples = random.randint(0, 1 << bits, (9, 11, 1))
        chunks = [(b"PLTE", palette.tobytes())]
        add_png("palette%d" % bits, png(samples, 3, bits, chunks=chunks), channels=(0, 3), bits=(8,))
        chunks.append((b"tRNS", bytes(range(0, 250, 130))[:1 << bits]))
        add_png("palette%d_transparent" % bits, png(samples, 3, bits, chunks=chunks), channels=(0,), bits=(8,))
    add_png("interlaced_rgb8", png(rgb[:21, :19], 2, 8, interlaced=True), channels=(0,))
    add_png("interlaced_rgb16", png(wide[:, :, :3], 2, 16, interlaced=True), channels=(0,))
    add_png("interlaced_grey1", png(random.randint(0, 2, (13, 17, 1)), 0, 1, interlaced=True), channels=(0,))
    safetensors_file.write("decode.safetensors", arrays)


main()
