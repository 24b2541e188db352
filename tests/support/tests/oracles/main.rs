//! The testkit's oracles, tried on modules written by hand: each must accept what
//! is right and refuse what is wrong.
#![forbid(unsafe_code)]

mod dxc;
mod ptxas;
mod readers;
mod shaders;
mod spirv_tools;
mod vulkan;
