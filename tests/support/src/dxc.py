"""Validates DXBC containers with DXC, whose library the first argument names.

DXC is reached through COM-style tables, which ctypes calls: the rest of the tests
stays free of unsafe code, and a crash of DXC ends this process alone.

Standard input: for each container its length (u32, little-endian) and its bytes.
Standard output, flushed for each: status (u32, an HRESULT), length of the message
(u32) and the message (UTF-8).
"""

import ctypes as c
import struct
import sys
import uuid


def guid(text):
    return (c.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


UTILS = guid("6245d6af-66e0-48fd-80b4-4d271796748c"), guid("4605C4CB-2019-492A-ADA4-65F20BB7D67F")
VALIDATOR = guid("8CA3E215-F728-4CF3-8CDD-88AF917587A1"), guid("A6E82BD2-1FD7-4826-9811-2857E797F49A")


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


def release(this):
    if this:
        call(this, 2, [], result=c.c_uint32)


def contents(blob):
    start = call(blob, 3, [], result=c.c_void_p)
    size = call(blob, 4, [], result=c.c_size_t)
    return c.string_at(start, size) if size else b""


def validate(utils, validator, data):
    """IDxcValidator::Validate (slot 3), of a copy: status and error text."""
    blob, result = c.c_void_p(), c.c_void_p()
    types = [c.c_void_p, c.c_uint32, c.c_uint32, c.c_void_p]
    buffer = c.create_string_buffer(data, len(data))
    # IDxcUtils::CreateBlob copies the bytes.
    check(call(utils, 6, types, buffer, len(data), 0, c.byref(blob)), "CreateBlob")
    try:
        types = [c.c_void_p, c.c_uint32, c.c_void_p]
        status = call(validator, 3, types, blob, 0, c.byref(result))
        if status != 0:
            return status & 0xFFFFFFFF, b""
        verdict, errors = c.c_int32(), c.c_void_p()
        # IDxcOperationResult::GetStatus and GetErrorBuffer.
        check(call(result, 3, [c.c_void_p], c.byref(verdict)), "GetStatus")
        check(call(result, 5, [c.c_void_p], c.byref(errors)), "GetErrorBuffer")
        message = contents(errors).rstrip(b"\0") if errors else b""
        release(errors)
        return verdict.value & 0xFFFFFFFF, message
    finally:
        release(result)
        release(blob)


def main():
    library = c.CDLL(sys.argv[1])
    library.DxcCreateInstance.restype = c.c_int32
    utils, validator = create(library, UTILS), create(library, VALIDATOR)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(header := source.read(4)) == 4:
        (size,) = struct.unpack("<I", header)
        status, message = validate(utils, validator, source.read(size))
        sink.write(struct.pack("<II", status, len(message)) + message)
        sink.flush()


main()
