#version 460
#extension GL_EXT_shader_atomic_float : enable
#extension GL_ARB_gpu_shader_int64 : enable
#extension GL_EXT_shader_atomic_int64 : enable
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer A { float a[]; };
layout(std430, binding = 1) buffer B { uint64_t b[]; };
layout(std430, binding = 2) buffer C { double c[]; };
void main() { uint i = gl_GlobalInvocationID.x; atomicAdd(a[i], 1.5); float o = atomicExchange(a[i + 1], 2.0); atomicAdd(b[i], 3ul); atomicMax(b[i], b[i + 2]); atomicAdd(c[i], double(o)); }
