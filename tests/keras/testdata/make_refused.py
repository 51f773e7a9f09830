"""Makes refused/*.h5: files that are right, and have something in them that is not read.

  python3 -m venv v && v/bin/pip install h5py && v/bin/python make_refused.py OUT_DIR
"""
import os, sys
import h5py, numpy as np

OUT = os.path.join(sys.argv[1] if len(sys.argv) > 1 else '.', 'refused')
os.makedirs(OUT, exist_ok=True)


def make(name, fill, **kw):
    with h5py.File(os.path.join(OUT, name + '.h5'), 'w', **kw) as f:
        fill(f)


def named_type(f):
    f['kind'] = np.dtype('<f4')
    f.create_dataset('v', (2,), f['kind'])[:] = 1


make('texts', lambda f: f.create_dataset('v', data=np.array([b'a', b'bc'])))
make('compound', lambda f: f.create_dataset('v', data=np.zeros(2, [('a', 'f4'), ('b', 'i4')])))
make('complex', lambda f: f.create_dataset('v', data=np.zeros(2, 'c8')))
make('opaque', lambda f: f.create_dataset('v', data=np.zeros(2, 'V2')))
make('long_double', lambda f: f.create_dataset('v', data=np.zeros(2, np.longdouble)))
make('no_value', lambda f: f.create_dataset('v', data=h5py.Empty('f4')))
make('named_type', named_type)
make('many_links', lambda f: [f.create_group('g%d' % i) for i in range(20)], libver='latest')
make('many_attributes', lambda f: [f.attrs.__setitem__('a%d' % i, i) for i in range(20)], libver='latest')
make('reference', lambda f: f.attrs.__setitem__('r', f.ref))
make('lists', lambda f: f.attrs.create('l', [np.arange(2), np.arange(3)], (2,), h5py.vlen_dtype('i4')))
make('large_number', lambda f: f.attrs.__setitem__('n', np.uint64(1 << 63)))
