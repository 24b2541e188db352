//! The CUDA layer on a driver that only keeps books.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod arguments;
mod cache;
mod capture;
mod contexts;
mod faults;
mod graphs;
mod launching;
mod loading;
mod memory;
mod pipeline;
