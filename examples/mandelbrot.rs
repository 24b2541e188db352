//! Draws the Mandelbrot set on the reference executor.
//!
//! ```text
//! cargo run --release --example mandelbrot -- [FILE.png]
//! ```

#[path = "kernels/mod.rs"]
mod kernels;

use kernite::reference::{Arg, Executor, Options};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;
/// Points that have not left the circle after so many steps count as inside.
const LIMIT: u32 = 160;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().unwrap_or_else(|| "mandelbrot.png".into());
    if arguments.next().is_some() {
        eprintln!("error: too many arguments\n\nUsage: mandelbrot [FILE.png]");
        return ExitCode::from(2);
    }
    match draw(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {}: {e}", Path::new(&path).display());
            ExitCode::FAILURE
        }
    }
}

fn draw(path: &Path) -> Result<(), Box<dyn Error>> {
    // Before the work, so that a path that cannot be written costs nothing.
    let file = File::create(path)?;
    let kernel = kernels::build(kernels::mandelbrot);
    let pixels = (WIDTH * HEIGHT) as usize;
    let mut args = [
        Arg::from(vec![0u32; pixels]),
        Arg::from(WIDTH),
        Arg::from(HEIGHT),
        Arg::from(-2.35f32),
        Arg::from(-1.0f32),
        Arg::from(2.0 / HEIGHT as f32),
        Arg::from(LIMIT),
    ];
    let [x, y, _] = kernel.workgroup_size();
    let grid = [WIDTH.div_ceil(x), HEIGHT.div_ceil(y), 1];
    let start = Instant::now();
    let report = Executor::new(Options::default()).run(&kernel, grid, &mut args)?;
    let steps = report.thread_steps;
    println!(
        "{steps} instructions in {:.1?} on the reference executor",
        start.elapsed()
    );

    let iterations = args[0]
        .as_slice::<u32>()
        .ok_or("the kernel counts in u32")?;
    let image: Vec<u8> = iterations.iter().flat_map(|&steps| colour(steps)).collect();
    let mut encoder = png::Encoder::new(BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&image)?;
    writer.finish()?;
    println!("{} shows it, {WIDTH} x {HEIGHT}", path.display());
    Ok(())
}

/// Black inside; outside from dark blue over white to orange and back, the quicker the nearer to the set.
fn colour(steps: u32) -> [u8; 3] {
    if steps >= LIMIT {
        return [0; 3];
    }
    let phase = (steps as f32 / LIMIT as f32).sqrt();
    [3.0, 3.3, 3.7].map(|shift| {
        let wave = (shift + 6.3 * phase).cos();
        (127.5 + 127.5 * wave) as u8
    })
}
