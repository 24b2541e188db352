//! naga: validating and writing a module that is there already, set to do no more than the others do: no names, no bound
//! checks, no zeroing, no bounds on loops.

use kernite_stages::Case;
use naga::back::spv;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::fmt::Write as _;

/// A module and what its validation found.
#[derive(Debug)]
pub struct Ready {
    module: naga::Module,
    info: ModuleInfo,
}

impl Ready {
    /// The kernel by way of WGSL.
    ///
    /// # Panics
    /// Where naga refuses it.
    pub fn new(case: Case) -> Ready {
        let module = naga::front::wgsl::parse_str(&wgsl(case)).expect("the kernel's WGSL");
        let info = validate(&module);
        Ready { module, info }
    }

    /// Validates and writes.
    pub fn validate_and_write(&self) -> Vec<u32> {
        write(&self.module, &validate(&self.module))
    }

    /// Writes only.
    pub fn write(&self) -> Vec<u32> {
        write(&self.module, &self.info)
    }
}

fn validate(module: &naga::Module) -> ModuleInfo {
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(module)
        .expect("a valid module")
}

fn write(module: &naga::Module, info: &ModuleInfo) -> Vec<u32> {
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies::default(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..Default::default()
    };
    spv::write_vec(module, info, &options, None).expect("a module that can be written")
}

/// Parses a SPIR-V module and validates it.
///
/// # Panics
/// Where naga refuses it.
pub fn parse_and_validate(words: &[u32]) -> ModuleInfo {
    let options = naga::front::spv::Options {
        adjust_coordinate_space: false,
        ..Default::default()
    };
    let module = naga::front::spv::Frontend::new(words.iter().copied(), &options)
        .parse()
        .expect("a module that naga takes");
    validate(&module)
}

/// The kernel as WGSL.
fn wgsl(case: Case) -> String {
    let mut text = match case {
        Case::Straight(_) => String::new(),
        Case::Saxpy => uniforms("n: u32, a: f32"),
        Case::VectorAdd | Case::Reduce256 | Case::Matmul16 => uniforms("n: u32"),
    };
    let count = case.buffers();
    for i in 0..count {
        let access = if i + 1 == count { "read_write" } else { "read" };
        let at = i + 1;
        let _ = writeln!(
            text,
            "@group(0) @binding({at}) var<storage, {access}> b{i}: array<f32>;"
        );
    }
    match case {
        Case::VectorAdd => text.push_str(VECTOR_ADD),
        Case::Saxpy => text.push_str(SAXPY),
        Case::Straight(n) => straight(&mut text, n),
        Case::Reduce256 => text.push_str(REDUCE256),
        Case::Matmul16 => text.push_str(MATMUL16),
    }
    text
}

fn uniforms(members: &str) -> String {
    format!("struct U {{ {members} }}\n@group(0) @binding(0) var<uniform> u: U;\n")
}

fn straight(text: &mut String, n: u32) {
    text.push_str(
        "@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let i = g.x;
  let x = b0[i];
  let y = b1[i];
  let v0 = x;
",
    );
    for step in 0..n {
        let next = step + 1;
        let _ = match step % 3 {
            0 => writeln!(text, "  let v{next} = fma(v{step}, x, y);"),
            1 => writeln!(text, "  let v{next} = v{step} + x;"),
            _ => writeln!(text, "  let v{next} = v{step} * y;"),
        };
    }
    let _ = writeln!(text, "  b2[i] = v{n};\n}}");
}

const VECTOR_ADD: &str = "@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let i = g.x;
  if (i < u.n) { b2[i] = b0[i] + b1[i]; }
}
";

const SAXPY: &str = "@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let i = g.x;
  if (i < u.n) { b1[i] = fma(u.a, b0[i], b1[i]); }
}
";

const REDUCE256: &str = "var<workgroup> tile: array<f32, 256>;
@compute @workgroup_size(256)
fn main(
  @builtin(global_invocation_id) g: vec3<u32>,
  @builtin(local_invocation_id) l: vec3<u32>,
  @builtin(workgroup_id) w: vec3<u32>,
) {
  let t = l.x;
  var v = 0.0;
  if (g.x < u.n) { v = b0[g.x]; }
  tile[t] = v;
  workgroupBarrier();
  for (var s = 128u; s > 0u; s = s >> 1u) {
    if (t < s) { tile[t] = tile[t] + tile[t + s]; }
    workgroupBarrier();
  }
  if (t == 0u) { b1[w.x] = tile[0]; }
}
";

const MATMUL16: &str = "var<workgroup> left: array<f32, 256>;
var<workgroup> right: array<f32, 256>;
@compute @workgroup_size(16, 16)
fn main(
  @builtin(global_invocation_id) g: vec3<u32>,
  @builtin(local_invocation_id) l: vec3<u32>,
) {
  let n = u.n;
  let tiles = n >> 4u;
  let row_start = g.y * n;
  let tile_row = l.y * 16u;
  let here = tile_row + l.x;
  var sum = 0.0;
  for (var t = 0u; t < tiles; t = t + 1u) {
    let first = t * 16u;
    left[here] = b0[row_start + l.x + first];
    right[here] = b1[(first + l.y) * n + g.x];
    workgroupBarrier();
    for (var k = 0u; k < 16u; k = k + 1u) {
      sum = fma(left[tile_row + k], right[k * 16u + l.x], sum);
    }
    workgroupBarrier();
  }
  b2[row_start + g.x] = sum;
}
";
