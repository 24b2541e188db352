#!/usr/bin/env python3
"""SPIRV-Tools' validator as a service: spirv_val.py LIBRARY, with libSPIRV-Tools-shared.so.

Reads modules from standard input, each as its length in bytes (u32, little-endian) and its bytes, and
answers each with a byte (1: valid under Vulkan 1.3), the length of the message (u32) and the message,
as spirv-val prints it. Starting the program for each module would take ten times as long.
"""
import ctypes
import struct
import sys


class Diagnostic(ctypes.Structure):
    _fields_ = [("line", ctypes.c_size_t), ("column", ctypes.c_size_t), ("index", ctypes.c_size_t),
                ("error", ctypes.c_char_p), ("is_text_source", ctypes.c_bool)]


class Binary(ctypes.Structure):
    _fields_ = [("code", ctypes.c_void_p), ("words", ctypes.c_size_t)]


def main():
    lib = ctypes.CDLL(sys.argv[1])
    lib.spvContextCreate.restype = ctypes.c_void_p
    lib.spvValidatorOptionsCreate.restype = ctypes.c_void_p
    env = ctypes.c_int()
    assert lib.spvParseTargetEnv(b"vulkan1.3", ctypes.byref(env))
    context = ctypes.c_void_p(lib.spvContextCreate(env))
    options = ctypes.c_void_p(lib.spvValidatorOptionsCreate())
    lib.spvValidatorOptionsSetFriendlyNames(options, ctypes.c_bool(True))
    source, out = sys.stdin.buffer, sys.stdout.buffer
    while len(head := source.read(4)) == 4:
        data = source.read(struct.unpack("<I", head)[0])
        buffer = ctypes.create_string_buffer(data, len(data))
        binary = Binary(ctypes.cast(buffer, ctypes.c_void_p), len(data) // 4)
        diagnostic = ctypes.POINTER(Diagnostic)()
        code = lib.spvValidateWithOptions(context, options, ctypes.byref(binary), ctypes.byref(diagnostic))
        text = b""
        if diagnostic:
            found = diagnostic.contents
            text = b"error: line %d: %s" % (found.index, found.error)
            lib.spvDiagnosticDestroy(diagnostic)
        out.write(struct.pack("<BI", code == 0, len(text)) + text)
        out.flush()


main()
