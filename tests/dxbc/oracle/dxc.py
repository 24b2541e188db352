"""Runs DXC's validator on containers, one after the other.

DXC crashes on some broken containers, so that it runs in a process of its own. The first argument is the path
of libdxcompiler. Each request on standard input is a little-endian u32 length, a u32 of flags, and the
container; each answer is a u32 status (0 is valid), a u32 length, and the messages.

With the flags 0x100 IDxcContainerBuilder is asked instead: after the container come a u32 of kinds to remove and
those kinds, then a u32 of parts to add and for each its kind, a u32 length, and its data. The answer is the
status and the container.
"""
import ctypes as C
import struct
import sys
import uuid


def guid(s):
    return (C.c_ubyte * 16).from_buffer_copy(uuid.UUID(s).bytes_le)


CLSID_UTILS, IID_UTILS = guid("6245d6af-66e0-48fd-80b4-4d271796748c"), guid("4605C4CB-2019-492A-ADA4-65F20BB7D67F")
CLSID_VALIDATOR, IID_VALIDATOR = guid("8CA3E215-F728-4CF3-8CDD-88AF917587A1"), guid("A6E82BD2-1FD7-4826-9811-2857E797F49A")
CLSID_BUILDER, IID_BUILDER = guid("94134294-411f-4574-b4d0-8741e25240d2"), guid("334b1f50-2292-4b35-99a1-25588d8c17fe")
IID_VERSION = guid("b04f5b50-2059-4f12-a8ff-a1e0cde1cc7e")


def call(obj, slot, types, *args, res=C.c_int32):
    table = C.cast(obj, C.POINTER(C.POINTER(C.c_void_p)))[0]
    return C.CFUNCTYPE(res, C.c_void_p, *types)(table[slot])(obj, *args)


def check(hr, what):
    if hr != 0:
        raise OSError("%s: %08x" % (what, hr & 0xFFFFFFFF))


def create(lib, clsid, iid):
    p = C.c_void_p()
    check(lib.DxcCreateInstance(clsid, iid, C.byref(p)), "DxcCreateInstance")
    return p


def blob_bytes(blob):
    if not blob.value:
        return b""
    p = call(blob, 3, [], res=C.c_void_p)
    n = call(blob, 4, [], res=C.c_size_t)
    return C.string_at(p, n) if n else b""


def validate(utils, validator, data, flags):
    blob = C.c_void_p()
    keep = C.create_string_buffer(data, len(data))
    types = [C.c_void_p, C.c_uint32, C.c_uint32, C.c_void_p]
    check(call(utils, 6, types, C.cast(keep, C.c_void_p), len(data), 0, C.byref(blob)), "CreateBlob")
    result = C.c_void_p()
    hr = call(validator, 3, [C.c_void_p, C.c_uint32, C.c_void_p], blob, flags, C.byref(result))
    if hr != 0:
        return hr & 0xFFFFFFFF, b""
    status = C.c_int32()
    call(result, 3, [C.c_void_p], C.byref(status))
    errors = C.c_void_p()
    call(result, 5, [C.c_void_p], C.byref(errors))
    return status.value & 0xFFFFFFFF, blob_bytes(errors)


def build(lib, utils, data, remove, add):
    blobs, kept = [], []

    def blob(b):
        p, keep = C.c_void_p(), C.create_string_buffer(b, len(b))
        types = [C.c_void_p, C.c_uint32, C.c_uint32, C.c_void_p]
        check(call(utils, 6, types, C.cast(keep, C.c_void_p), len(b), 0, C.byref(p)), "CreateBlob")
        blobs.append(p)
        kept.append(keep)
        return p

    builder = create(lib, CLSID_BUILDER, IID_BUILDER)
    hr = call(builder, 3, [C.c_void_p], blob(data))
    for kind in remove:
        hr = hr or call(builder, 5, [C.c_uint32], struct.unpack("<I", kind)[0])
    for kind, b in add:
        hr = hr or call(builder, 4, [C.c_uint32, C.c_void_p], struct.unpack("<I", kind)[0], blob(b))
    result, status, out = C.c_void_p(), C.c_int32(), C.c_void_p()
    hr = hr or call(builder, 6, [C.c_void_p], C.byref(result))
    if hr:
        return hr & 0xFFFFFFFF, b""
    call(result, 3, [C.c_void_p], C.byref(status))
    call(result, 4, [C.c_void_p], C.byref(out))
    return status.value & 0xFFFFFFFF, blob_bytes(out)


def version(validator):
    q, major, minor = C.c_void_p(), C.c_uint32(), C.c_uint32()
    if call(validator, 0, [C.c_void_p, C.c_void_p], IID_VERSION, C.byref(q)) == 0:
        call(q, 3, [C.c_void_p, C.c_void_p], C.byref(major), C.byref(minor))
    return major.value, minor.value


def main():
    lib = C.CDLL(sys.argv[1])
    lib.DxcCreateInstance.restype = C.c_int32
    utils = create(lib, CLSID_UTILS, IID_UTILS)
    validator = create(lib, CLSID_VALIDATOR, IID_VALIDATOR)
    out = sys.stdout.buffer
    out.write(struct.pack("<II", *version(validator)))
    out.flush()
    while True:
        head = sys.stdin.buffer.read(8)
        if len(head) < 8:
            return
        size, flags = struct.unpack("<II", head)
        take = sys.stdin.buffer.read
        data = take(size)
        if flags == 0x100:
            word = lambda: struct.unpack("<I", take(4))[0]
            remove = [take(4) for _ in range(word())]
            add = [(take(4), take(word())) for _ in range(word())]
            status, text = build(lib, utils, data, remove, add)
        else:
            status, text = validate(utils, validator, data, flags)
        out.write(struct.pack("<II", status, len(text)) + text)
        out.flush()


main()
