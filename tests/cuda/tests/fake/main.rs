//! The CUDA layer on a driver that only keeps books.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod contexts;
mod faults;
mod launching;
mod loading;
mod memory;
