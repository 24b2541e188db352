"""Asks DXC, whose library the first argument names, about DXBC containers.

DXC is reached through COM-style tables, which ctypes calls: the rest of the tests
stays free of unsafe code, and a crash of DXC ends this process alone.

All numbers are u32, little-endian. Standard output begins with the validator's major
and minor version. Then each request on standard input is a verb, the container's
length and its bytes:
  0  IDxcValidator::Validate
  1  the same, of the root signature alone
  2  IDxcContainerBuilder; there follow the number of kinds to remove and those kinds,
     then the number of parts to add and for each its kind, length and data
Each answer, flushed, is a status (an HRESULT), a length and that many bytes: messages
in UTF-8, or the container that was built.
"""

import ctypes as c
import struct
import sys
import uuid


def guid(text):
    return (c.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


UTILS = guid("6245d6af-66e0-48fd-80b4-4d271796748c"), guid("4605C4CB-2019-492A-ADA4-65F20BB7D67F")
VALIDATOR = guid("8CA3E215-F728-4CF3-8CDD-88AF917587A1"), guid("A6E82BD2-1FD7-4826-9811-2857E797F49A")
BUILDER = guid("94134294-411f-4574-b4d0-8741e25240d2"), guid("334b1f50-2292-4b35-99a1-25588d8c17fe")
VERSION_INFO = guid("b04f5b50-2059-4f12-a8ff-a1e0cde1cc7e")
ROOT_SIGNATURE_ONLY = 2


def call(this, slot, types, *arguments, result=c.c_int32):
    """Calls the method in a slot of the object's table."""
    table = c.cast(this, c.POINTER(c.POINTER(c.c_void_p)))[0]
    return c.CFUNCTYPE(result, c.c_void_p, *types)(table[slot])(this, *arguments)


def check(status, what):
    if status != 0:
        sys.exit(f"{what}: {status & 0xFFFFFFFF:#010x}")


def create(library, ids):
    this = c.c_void_p()
    check(library.DxcCreateInstance(*ids, c.byref(this)), "DxcCreateInstance")
    return this


def release(*objects):
    for this in objects:
        if this:
            call(this, 2, [], result=c.c_uint32)


def contents(blob):
    if not blob:
        return b""
    start = call(blob, 3, [], result=c.c_void_p)
    size = call(blob, 4, [], result=c.c_size_t)
    return c.string_at(start, size) if size else b""


def make_blob(utils, data):
    blob = c.c_void_p()
    types = [c.c_void_p, c.c_uint32, c.c_uint32, c.c_void_p]
    buffer = c.create_string_buffer(data, len(data))
    # IDxcUtils::CreateBlob copies the bytes.
    check(call(utils, 6, types, buffer, len(data), 0, c.byref(blob)), "CreateBlob")
    return blob


def outcome(result, slot):
    """The status of an IDxcOperationResult, and its result (slot 4) or errors (slot 5)."""
    verdict, blob = c.c_int32(), c.c_void_p()
    check(call(result, 3, [c.c_void_p], c.byref(verdict)), "GetStatus")
    check(call(result, slot, [c.c_void_p], c.byref(blob)), "GetResult or GetErrorBuffer")
    data = contents(blob)
    release(blob)
    return verdict.value & 0xFFFFFFFF, data


def validate(utils, validator, data, flags):
    blob, result = make_blob(utils, data), c.c_void_p()
    try:
        types = [c.c_void_p, c.c_uint32, c.c_void_p]
        status = call(validator, 3, types, blob, flags, c.byref(result))
        if status != 0:
            return status & 0xFFFFFFFF, b""
        status, message = outcome(result, 5)
        return status, message.rstrip(b"\0")
    finally:
        release(result, blob)


def build(library, utils, data, remove, add):
    builder, result = create(library, BUILDER), c.c_void_p()
    blobs = [make_blob(utils, data)]
    try:
        # Load, RemovePart, AddPart, SerializeContainer: the first that fails ends it.
        status = call(builder, 3, [c.c_void_p], blobs[0])
        for kind in remove:
            status = status or call(builder, 5, [c.c_uint32], kind)
        for kind, part in add:
            blobs.append(make_blob(utils, part))
            status = status or call(builder, 4, [c.c_uint32, c.c_void_p], kind, blobs[-1])
        status = status or call(builder, 6, [c.c_void_p], c.byref(result))
        return (status & 0xFFFFFFFF, b"") if status else outcome(result, 4)
    finally:
        release(result, builder, *blobs)


def version(validator):
    info, major, minor = c.c_void_p(), c.c_uint32(), c.c_uint32()
    check(call(validator, 0, [c.c_void_p, c.c_void_p], VERSION_INFO, c.byref(info)), "IDxcVersionInfo")
    check(call(info, 3, [c.c_void_p, c.c_void_p], c.byref(major), c.byref(minor)), "GetVersion")
    release(info)
    return major.value, minor.value


def main():
    library = c.CDLL(sys.argv[1])
    library.DxcCreateInstance.restype = c.c_int32
    utils, validator = create(library, UTILS), create(library, VALIDATOR)
    take, sink = sys.stdin.buffer.read, sys.stdout.buffer

    def word():
        return struct.unpack("<I", take(4))[0]

    sink.write(struct.pack("<II", *version(validator)))
    sink.flush()
    while len(header := take(8)) == 8:
        verb, size = struct.unpack("<II", header)
        data = take(size)
        if verb == 2:
            remove = [word() for _ in range(word())]
            add = [(word(), take(word())) for _ in range(word())]
            status, answer = build(library, utils, data, remove, add)
        else:
            flags = ROOT_SIGNATURE_ONLY if verb == 1 else 0
            status, answer = validate(utils, validator, data, flags)
        sink.write(struct.pack("<II", status, len(answer)) + answer)
        sink.flush()


main()
