# SPDX-License-Identifier: Apache-2.0
"""Writes LMDB databases by LMDB's own library."""

import contextlib
import ctypes
import ctypes.util

NO_SUBDIR, NO_SYNC, CREATE, DUPSORT = 0x4000, 0x10000, 0x40000, 0x04


class Value(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_char_p)]


def _library():
    library = ctypes.CDLL("liblmdb.so.0")
    library.mdb_strerror.restype = ctypes.c_char_p
    return library


class Database:
    """One file; each `transaction` adds and removes in the database of a name (None: the main one)."""

    def __init__(self, path):
        self._lib = _library()
        self._env = ctypes.c_void_p()
        self._check(self._lib.mdb_env_create(ctypes.byref(self._env)))
        self._check(self._lib.mdb_env_set_mapsize(self._env, ctypes.c_size_t(1 << 30)))
        self._check(self._lib.mdb_env_set_maxdbs(self._env, 4))
        self._check(self._lib.mdb_env_open(self._env, str(path).encode(), NO_SUBDIR | NO_SYNC, 0o644))

    def _check(self, result):
        if result != 0:
            raise OSError(self._lib.mdb_strerror(result).decode())

    def transaction(self, puts=(), deletes=(), name=None, flags=0):
        txn, dbi = ctypes.c_void_p(), ctypes.c_uint()
        self._check(self._lib.mdb_txn_begin(self._env, None, 0, ctypes.byref(txn)))
        self._check(self._lib.mdb_dbi_open(txn, name, flags | CREATE, ctypes.byref(dbi)))
        for key, data in puts:
            self._check(self._lib.mdb_put(txn, dbi, ctypes.byref(Value(len(key), key)), ctypes.byref(Value(len(data), data)), 0))
        for key in deletes:
            self._check(self._lib.mdb_del(txn, dbi, ctypes.byref(Value(len(key), key)), None))
        self._check(self._lib.mdb_txn_commit(txn))

    def close(self):
        self._lib.mdb_env_close(self._env)


@contextlib.contextmanager
def database(path):
    data = Database(path)
    try:
        yield data
    finally:
        data.close()
