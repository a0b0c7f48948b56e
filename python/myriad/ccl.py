"""Collective calls that end, also when a member does not: libmyriad-ccl for Python.

    from myriad import ccl
    with ccl.Group("job-17", members=4) as group:
        try:
            group.all_reduce(gradients)              # in place; array, bytearray, numpy, ...
        except ccl.Reform:
            view = group.reform()                    # who is left; did the last call count?

Every call returns within its time limit (seconds) or raises: Reform when the epoch is over, Stale
when the others have gone on without this process, Error else. docs/ccl.md has the words. Needs
nothing but Python and libmyriad-ccl.so.0, which MYRIAD_CCL_LIBRARY can name.
"""
import collections
import ctypes
import os

TYPES = {"f": 0, "d": 1, "e": 2, "bfloat16": 3, "b": 4, "B": 5, "i": 6, "I": 7, "q": 8, "Q": 9,
         "l": 8, "L": 9}
BYTES = (4, 8, 2, 2, 1, 1, 4, 4, 8, 8)
OPERATIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5}
ESTALE, EREFORM = -11, -16

View = collections.namedtuple("View", "epoch rank size kept completed")
Member = collections.namedtuple("Member", "tag pid waited_ns last")


class Error(Exception):
    """What the library says; 'code' is its number."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Reform(Error):
    """The epoch is over: reform() forms the next one."""


class Stale(Error):
    """The others have gone on without this process: close, and join again."""


class _Err(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512),
                ("hint", ctypes.c_char * 768)]


class _Conf(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tag", ctypes.c_uint64), ("members", ctypes.c_uint32),
                ("places", ctypes.c_uint32), ("stage_bytes", ctypes.c_uint32)]


class _Bound(ctypes.Structure):
    _fields_ = [("epoch", ctypes.c_uint64), ("timeout_ns", ctypes.c_int64)]


class _View(ctypes.Structure):
    _fields_ = [("epoch", ctypes.c_uint64), ("rank", ctypes.c_uint32), ("size", ctypes.c_uint32),
                ("kept", ctypes.c_uint32), ("completed", ctypes.c_uint64)]


class _Member(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint64), ("pid", ctypes.c_uint32), ("waited_ns", ctypes.c_int64),
                ("last", ctypes.c_uint32)]


class _How(ctypes.Structure):
    _fields_ = [("least", ctypes.c_uint32), ("want", ctypes.c_uint32),
                ("grace_ns", ctypes.c_int64), ("join_ns", ctypes.c_int64)]


def _load():
    library = ctypes.CDLL(os.environ.get("MYRIAD_CCL_LIBRARY", "libmyriad-ccl.so.0"))
    group, memory, size = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
    number, err = ctypes.c_int, ctypes.POINTER(_Err)
    for name, arguments in {
            "join": [ctypes.POINTER(_Conf), ctypes.c_int64, ctypes.POINTER(group), err],
            "member": [group, ctypes.c_uint32, ctypes.POINTER(_Member), err],
            "slow": [group, ctypes.POINTER(ctypes.c_uint32)],
            "reform": [group, ctypes.POINTER(_How), ctypes.c_int64, ctypes.POINTER(_View), err],
            "agree": [group, number, ctypes.POINTER(ctypes.c_uint64), _Bound, err],
            "barrier": [group, _Bound, err],
            "all_reduce": [group, memory, memory, size, number, number, _Bound, err],
            "reduce_scatter": [group, memory, memory, size, number, number, _Bound, err],
            "all_gather": [group, memory, memory, size, number, _Bound, err],
            "broadcast": [group, memory, size, number, ctypes.c_uint32, _Bound, err],
            "all_to_all": [group, memory, memory, size, number, _Bound, err]}.items():
        function = getattr(library, "myr_ccl_" + name)
        function.argtypes, function.restype = arguments, number
    library.myr_ccl_view.argtypes = [group, ctypes.POINTER(_View)]
    library.myr_ccl_leave.argtypes = [group]
    library.myr_ccl_calls.argtypes, library.myr_ccl_calls.restype = [group], ctypes.c_uint64
    library.myr_ccl_joiners.argtypes = [group]
    library.myr_ccl_joiners.restype = ctypes.c_uint32
    return library


class _Values:
    """The memory of an array-like object: where it is, how many values of which type."""

    def __init__(self, values, kind=None, writable=True):
        view = memoryview(values)
        if not view.c_contiguous or (writable and view.readonly):
            raise ValueError("values must be contiguous, and writable where results go")
        self.kind = TYPES[kind or view.format.lstrip("@=<")]
        self.count = view.nbytes // BYTES[self.kind]
        if view.readonly:
            self._held = (ctypes.c_char * view.nbytes).from_buffer_copy(view)
        else:
            self._held = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B"))
        self.address = ctypes.addressof(self._held)


class Group:
    """One process's membership. 'timeout' is the usual one of its calls, in seconds."""

    def __init__(self, name, members, tag=0, timeout=30.0, places=0, stage_bytes=0):
        self._library = _load()
        self._group = ctypes.c_void_p()
        self.timeout = timeout
        conf = _Conf(name.encode(), tag, members, places, stage_bytes)
        self._call("join", ctypes.byref(conf), int(timeout * 1e9), ctypes.byref(self._group))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def _call(self, name, *arguments):
        err = _Err()
        code = getattr(self._library, "myr_ccl_" + name)(*arguments, ctypes.byref(err))
        if code < 0:
            kind = {EREFORM: Reform, ESTALE: Stale}.get(code, Error)
            raise kind(code, err.message.decode(errors="replace"))

    def _bound(self, timeout):
        return _Bound(self.view.epoch, int((self.timeout if timeout is None else timeout) * 1e9))

    def leave(self):
        """The others see at once that this process is gone."""
        if self._group:
            self._library.myr_ccl_leave(self._group)
            self._group = ctypes.c_void_p()

    @property
    def view(self):
        view = _View()
        self._library.myr_ccl_view(self._group, ctypes.byref(view))
        return View(view.epoch, view.rank, view.size, view.kept, view.completed)

    @property
    def calls(self):
        """Of this epoch; the last one counts if that is <= 'completed' of the next view."""
        return self._library.myr_ccl_calls(self._group)

    @property
    def joiners(self):
        return self._library.myr_ccl_joiners(self._group)

    @property
    def slow(self):
        """The rank that has made all others wait in the last three calls, or None."""
        rank = ctypes.c_uint32()
        found = self._library.myr_ccl_slow(self._group, ctypes.byref(rank))
        return rank.value if found else None

    def member(self, rank):
        member = _Member()
        self._call("member", self._group, rank, ctypes.byref(member))
        return Member(member.tag, member.pid, member.waited_ns, member.last)

    def reform(self, least=0, want=0, grace=0.0, join=0.0, timeout=None):
        how = _How(least, want, int(grace * 1e9), int(join * 1e9))
        limit = int((self.timeout if timeout is None else timeout) * 1e9)
        self._call("reform", self._group, ctypes.byref(how), limit, None)
        return self.view

    def agree(self, value, operation="and", timeout=None):
        """The same 64-bit number at all: what 'operation' makes of all of theirs."""
        shared = ctypes.c_uint64(value)
        self._call("agree", self._group, OPERATIONS[operation], ctypes.byref(shared),
                   self._bound(timeout))
        return shared.value

    def barrier(self, timeout=None):
        self._call("barrier", self._group, self._bound(timeout))

    def all_reduce(self, values, operation="sum", kind=None, timeout=None):
        held = _Values(values, kind)
        self._call("all_reduce", self._group, held.address, held.address, held.count, held.kind,
                   OPERATIONS[operation], self._bound(timeout))

    def reduce_scatter(self, values, result, operation="sum", kind=None, timeout=None):
        given, got = _Values(values, kind, writable=False), _Values(result, kind)
        self._fit(given, got, got.count)
        self._call("reduce_scatter", self._group, given.address, got.address, got.count, got.kind,
                   OPERATIONS[operation], self._bound(timeout))

    def all_gather(self, values, result, kind=None, timeout=None):
        given, got = _Values(values, kind, writable=False), _Values(result, kind)
        self._fit(got, given, given.count)
        self._call("all_gather", self._group, given.address, got.address, given.count, given.kind,
                   self._bound(timeout))

    def broadcast(self, values, root=0, kind=None, timeout=None):
        held = _Values(values, kind)
        self._call("broadcast", self._group, held.address, held.count, held.kind, root,
                   self._bound(timeout))

    def all_to_all(self, values, result, kind=None, timeout=None):
        given, got = _Values(values, kind, writable=False), _Values(result, kind)
        count = got.count // self.view.size
        self._fit(got, given, count)
        self._fit(given, got, count)
        self._call("all_to_all", self._group, given.address, got.address, count, got.kind,
                   self._bound(timeout))

    def _fit(self, large, small, count):
        """The library writes where it is told: lengths are held together here."""
        if large.kind != small.kind or large.count != count * self.view.size:
            raise ValueError(f"{large.count} values are not {count} for each of "
                             f"{self.view.size} ranks")
