//! Microsoft's DXC: where its library is.
#![forbid(unsafe_code)]
