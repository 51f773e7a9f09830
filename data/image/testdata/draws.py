"""draws.py: prints what RandomUniform({seed, epoch, example, stream}, 0, 1) of random_image.h draws, exactly.

Philox4x32-10 after Salmon et al., SC 2011, in Python's integers. random_image_test.cc holds the output.
"""
MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def uniform(seed, epoch, example, stream, use=0):
    first = philox([epoch & MASK, epoch >> 32, stream, use], [seed & MASK, seed >> 32])
    return philox([example & MASK, example >> 32, first[0], first[1]], first[2:])[0] >> 8


for key in ((0, 0, 0, 0), (1, 2, 3, 0), (1 << 40, 5, 1 << 33, 7)):
    print(key, "0x%x.0p-24f" % uniform(*key))
