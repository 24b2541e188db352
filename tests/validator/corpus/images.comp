#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8) uniform readonly image2D i0;
layout(binding = 1, r32ui) uniform uimage2D i1;
layout(binding = 2, rgba32f) uniform writeonly image2DArray i2;
layout(binding = 3) uniform sampler2D t0;
layout(binding = 4) uniform texture2D t1;
layout(binding = 5) uniform sampler s1;
layout(binding = 6) uniform samplerBuffer b0;
layout(binding = 7) uniform sampler2DShadow sh;
layout(binding = 8) uniform samplerCube cb[3];
layout(binding = 9, r32i) uniform iimageBuffer ib;
layout(binding = 10) uniform isampler3D t3;
layout(binding = 11) uniform sampler2DMS ms;
void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy); vec4 v = imageLoad(i0, p); imageAtomicAdd(i1, p, 3u); uint o = imageAtomicCompSwap(i1, p, 1u, 2u);
  v += textureLod(t0, vec2(p) / vec2(textureSize(t0, 0)), 0.0) + textureLod(sampler2D(t1, s1), vec2(0.5), 1.0) + texelFetch(t0, p, 0) + texelFetch(b0, p.x) + textureGather(t0, vec2(0.1), 1) + textureGrad(t0, vec2(0.2), vec2(0.1), vec2(0.1));
  v.x += textureLod(sh, vec3(0.5), 0.0) + textureLod(cb[1], vec3(1), 0.0).y + float(imageLoad(ib, 3).x + texelFetch(t3, ivec3(1), 0).x) + texelFetch(ms, p, 2).z + textureGather(sh, vec2(0.3), 0.5).x;
  v.y += float(textureQueryLevels(t0) + imageSize(i1).x + textureSize(ms).y + textureSamples(ms)) + textureLodOffset(t0, vec2(0.4), 0.0, ivec2(1, 2)).w; imageStore(i2, ivec3(p, 1), v); imageStore(ib, 1, ivec4(o));
}
