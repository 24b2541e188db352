@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var o: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(3) var d: texture_depth_2d;
@group(0) @binding(4) var c: sampler_comparison;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let p = vec2<i32>(id.xy); let size = textureDimensions(t); let uv = vec2<f32>(p) / vec2<f32>(size);
  var v = textureSampleLevel(t, s, uv, 0.0) + textureLoad(t, p, 0) + textureGather(1, t, s, uv); v.x += textureSampleCompareLevel(d, c, uv, 0.5) + textureLoad(d, p, 0); textureStore(o, p, v);
}
