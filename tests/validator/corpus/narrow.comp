#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_EXT_shader_8bit_storage : enable
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer A { int8_t a[]; };
layout(std430, binding = 1) buffer B { uint16_t b[]; };
layout(std430, binding = 2) buffer C { float16_t c[]; };
layout(std430, binding = 3) buffer D { double d[]; };
layout(std430, binding = 4) buffer E { int64_t e[]; };
layout(std430, binding = 5) buffer F { f16vec4 f[]; };
void main() {
  uint i = gl_GlobalInvocationID.x; int8_t x = a[i]; uint16_t y = b[i]; float16_t z = c[i]; double w = d[i]; int64_t v = e[i];
  x = x * int8_t(3) + int8_t(y); y = uint16_t(x) >> 2; z = z * float16_t(w) + float16_t(0.5); w = w / 3.0 + double(z) + sqrt(w); v = (v << 3) - int64_t(w) + int64_t(x);
  f[i] = f16vec4(z, z, 1, 2) * f[i] + f16vec4(fma(z, z, z)); a[i] = x; b[i] = y; c[i] = max(z, float16_t(1)); d[i] = w; e[i] = v % 5;
}
