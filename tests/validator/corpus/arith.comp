#version 460
layout(local_size_x = 32, local_size_y = 2) in;
layout(std430, binding = 0) buffer A { int a[]; };
layout(std430, binding = 1) buffer B { uint b[]; };
layout(std430, binding = 2) buffer C { vec3 c[]; };
layout(std430, binding = 3) buffer D { mat4 m; mat3x2 k[4]; };
void main() {
  uint i = gl_GlobalInvocationID.x + gl_WorkGroupID.y * gl_NumWorkGroups.z;
  int x = a[i]; uint u = b[i];
  x = x * 3 - (x << 2) ^ (x >> 1); x = abs(x) % 7; x = clamp(x, -5, 5) + sign(x) / max(x, 1);
  u = bitCount(u) + findMSB(u) + findLSB(x) | bitfieldExtract(u, 3, 4) & bitfieldReverse(~u);
  u = bitfieldInsert(u, 9u, 2, 3); uint carry; u = uaddCarry(u, 3u, carry) + carry; uint lo, hi; umulExtended(u, u, hi, lo);
  vec3 v = c[i]; v = normalize(v) * dot(v, v.zyx) + cross(v, vec3(1)) + reflect(v, v.yyx) + mix(v, v.zxy, 0.5);
  vec4 w = m * vec4(v, 1) + vec4(v, 2) * m; w += transpose(m)[2] * determinant(m) + inverse(m)[1]; w = exp2(w) + pow(abs(w), vec4(2)) + sin(w) * atan(w, w.wzyx);
  v = fract(v) + floor(v) + ceil(v) + roundEven(v) + trunc(v) + smoothstep(vec3(0), vec3(1), v) + fma(v, v, v) + v * inversesqrt(length(v));
  k[x & 3][1] = w.xy; bvec3 t = lessThan(v, vec3(1)); if (any(t) && !all(t) || isnan(v.x) || isinf(v.y)) u += uint(v.x);
  int e; float q = frexp(v.x, e); float ip; q += modf(v.y, ip) + ldexp(q, e) + ip; u += packHalf2x16(v.xy) + packUnorm4x8(w); q += unpackHalf2x16(u).x + unpackSnorm4x8(u).w;
  u += floatBitsToUint(q) + uint(intBitsToFloat(x)); c[i] = t.x ? v : v.zyx; a[i] = x + int(q); b[i] = u + hi + lo;
}
