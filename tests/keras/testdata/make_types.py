"""Makes types.h5: numbers and attributes of every type that is read, as h5py writes them.

  python3 -m venv v && v/bin/pip install h5py ml_dtypes && v/bin/python make_types.py OUT_DIR
"""
import os, sys
import h5py, ml_dtypes, numpy as np

OUT = sys.argv[1] if len(sys.argv) > 1 else '.'
V = np.array([[0, 1, 2], [-3, 4.5, 100]])  # every type has them, but for a sign or a half
with h5py.File(os.path.join(OUT, 'types.h5'), 'w') as f:
    for order in '<>':
        for kind in ('f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8'):
            f[('big/' if order == '>' else 'little/') + kind] = np.abs(V).astype(order + kind) if kind[0] == 'u' else V.astype(order + kind)
    f['bfloat16'] = V.astype(ml_dtypes.bfloat16)
    f['bfloat16'].attrs['dtype'] = 'bfloat16'
    f['bool'] = np.array([True, False])
    f['empty'] = np.zeros((0, 3), 'f4')
    a = f.attrs
    a['bool'], a['float16'], a['uint64'] = True, np.float16(0.5), np.uint64(1 << 62)
    a['big'] = np.array([1, -2], '>i2')
    a['nothing'] = h5py.Empty('f4')
    a['variable'] = np.array(['a', 'größe', ''], dtype=object)
    a['fixed'] = np.array([b'a', b'bcd'])
    a['fixed_utf8'] = np.array(['größe'.encode()], dtype=h5py.string_dtype('utf-8', 6 + 1))
    a['single'] = 'text'
    a['single_fixed'] = np.bytes_('bytes')
    spaces = h5py.h5t.C_S1.copy()
    spaces.set_size(5)
    spaces.set_strpad(h5py.h5t.STR_SPACEPAD)
    h5py.h5a.create(f.id, b'spaces', spaces, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(b'ab', 'S5'))
    low = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    low.set_layout(h5py.h5d.COMPACT)
    compact = h5py.h5d.create(f.id, b'compact', h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple((3,)), low)
    compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 2, 3], 'f4'))
