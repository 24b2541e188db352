//! DXBC containers: reading, writing, digests, and wrapping precompiled DXIL.
#![forbid(unsafe_code)]
