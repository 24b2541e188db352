#!/usr/bin/env python3
"""HLSL to SPIR-V by DXC: dxc_spirv.py LIBRARY ARGUMENT…, HLSL on standard input, the module on standard output."""
import ctypes as c
import sys
import uuid


class Guid(c.Structure):
    _fields_ = [("bytes", c.c_ubyte * 16)]


def guid(text):
    return Guid((c.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le))


COMPILER = guid("73e22d93-e6ce-47f3-b5bf-f0664f39c1b0")
COMPILER_3 = guid("228b4687-5a6a-4730-900c-9702b2203f54")
RESULT = guid("58346cda-dde7-4497-9461-6f87af5e0659")
UTF_8 = 65001


class Buffer(c.Structure):
    _fields_ = [("text", c.c_char_p), ("size", c.c_size_t), ("encoding", c.c_uint32)]


def call(this, slot, *arguments, result=c.c_int32):
    """Calls the method in a slot of the object's table."""
    table = c.cast(this, c.POINTER(c.POINTER(c.c_void_p)))[0]
    return c.CFUNCTYPE(result, c.c_void_p, *map(type, arguments))(table[slot])(this, *arguments)


def contents(result, slot):
    blob = c.c_void_p()
    call(result, slot, c.pointer(blob))
    if not blob:
        return b""
    start, size = call(blob, 3, result=c.c_void_p), call(blob, 4, result=c.c_size_t)
    return c.string_at(start, size) if size else b""


def main():
    library = c.CDLL(sys.argv[1])
    compiler = c.c_void_p()
    status = library.DxcCreateInstance(c.byref(COMPILER), c.byref(COMPILER_3), c.byref(compiler))
    if status:
        sys.exit(f"DxcCreateInstance: {status & 0xFFFFFFFF:#x}")
    text = sys.stdin.buffer.read()
    source = Buffer(text, len(text), UTF_8)
    names = ["-spirv", *sys.argv[2:]]
    arguments = (c.c_wchar_p * len(names))(*names)
    result, status = c.c_void_p(), c.c_int32()
    call(compiler, 3, c.pointer(source), arguments, c.c_uint32(len(names)), c.c_void_p(),
         c.pointer(RESULT), c.pointer(result))
    call(result, 3, c.pointer(status))
    if status.value:
        sys.exit(contents(result, 5).decode(errors="replace"))
    sys.stdout.buffer.write(contents(result, 4))


main()
