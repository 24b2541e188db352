#version 460
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_EXT_shader_8bit_storage : enable
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer A { int8_t a[]; };
layout(std430, binding = 1) buffer C { float16_t c[]; };
void main() { uint i = gl_GlobalInvocationID.x; c[i] = float16_t(float(c[i]) * 2.0); a[i] = int8_t(int(a[i]) + 1); }
