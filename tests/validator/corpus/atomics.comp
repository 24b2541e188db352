#version 460
#extension GL_KHR_memory_scope_semantics : enable
layout(local_size_x = 64) in;
layout(std430, binding = 0) coherent buffer A { uint n; int a[]; };
shared uint s; shared int t[64];
void main() {
  if (gl_LocalInvocationIndex == 0) s = 0; memoryBarrierShared(); barrier();
  uint o = atomicAdd(s, 1); atomicMin(t[o & 63], a[o]); atomicMax(a[o], 3); atomicAnd(n, 7); atomicOr(n, 8); atomicXor(n, 2); atomicExchange(s, o); atomicCompSwap(n, 2, 3);
  groupMemoryBarrier(); memoryBarrier(); memoryBarrierBuffer(); barrier();
  for (uint d = 32; d > 0; d >>= 1) { if (gl_LocalInvocationID.x < d) t[gl_LocalInvocationID.x] += t[gl_LocalInvocationID.x + d]; barrier(); }
  a[gl_WorkGroupID.x] = t[0] + int(a.length());
}
