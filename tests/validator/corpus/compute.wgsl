struct Particle { pos: vec3<f32>, vel: vec3<f32>, kind: u32, m: mat3x3<f32> }
struct Params { n: u32, dt: f32, grid: vec4<i32>, list: array<vec4<f32>, 3> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(2) var<storage, read> input: array<u32>;
@group(0) @binding(3) var<storage, read_write> counter: array<atomic<u32>, 4>;
var<workgroup> hits: atomic<i32>;
var<private> seed: u32 = 7u;
const K = array<u32, 4>(1u, 2u, 3u, 5u);
fn rnd() -> f32 { seed = seed * 1664525u + 1013904223u; return f32(seed >> 8u) / 16777216.0; }
fn pick(i: u32) -> u32 { switch i { case 0u: { return 3u; } case 1u, 2u: { seed += 1u; } default: { } } return K[i & 3u]; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) li: u32, @builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) nw: vec3<u32>) {
  let i = gid.x; if (i >= params.n || i >= arrayLength(&particles)) { return; }
  var p = particles[i]; p.vel = p.vel + p.m * p.pos * params.dt; p.pos += normalize(p.vel) * select(1.0, 2.0, p.kind == 3u);
  var tile: array<f32, 64>; tile[li] = rnd() + p.pos.x; workgroupBarrier();
  var sum = 0.0; for (var k = 0u; k < 64u; k++) { if (tile[k] < 0.0) { continue; } sum += tile[k]; if (sum > 100.0) { break; } }
  loop { sum -= 1.0; continuing { seed ^= 3u; break if sum < 3.0; } }
  atomicAdd(&hits, 1); let old = atomicMax(&counter[wid.x & 3u], pick(i)); let r = atomicCompareExchangeWeak(&counter[1], old, old + 1u);
  if (r.exchanged && (input[i] / (nw.x - 1u)) % 3u == 1u) { p.kind = countOneBits(input[i]) + firstLeadingBit(old); }
  let q = vec4<i32>(params.grid) % vec4<i32>(3) / params.grid.wzyx; p.pos.y = f32(q.x) + params.list[i % 3u].w + sum; let b = bitcast<vec2<u32>>(p.pos.xy); p.kind += b.x + extractBits(b.y, 2u, 5u) + pack4x8unorm(vec4(p.pos, 1.0)); storageBarrier(); particles[i] = p;
}
