#version 460
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_vote : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_KHR_shader_subgroup_shuffle_relative : enable
#extension GL_KHR_shader_subgroup_clustered : enable
#extension GL_KHR_shader_subgroup_quad : enable
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { float a[]; };
void main() {
  uint i = gl_GlobalInvocationID.x; float x = a[i]; uvec4 b = subgroupBallot(x > 0.0); int y = int(x);
  x += subgroupAdd(x) + subgroupInclusiveMul(x) + subgroupExclusiveMax(x) + subgroupClusteredAdd(x, 4);
  y += subgroupMin(y) + subgroupAnd(y) + int(subgroupOr(uint(y)));
  x += subgroupShuffle(x, 3u) + subgroupShuffleXor(x, 1u) + subgroupShuffleUp(x, 2u) + subgroupShuffleDown(x, 1u) + subgroupBroadcast(x, 5u) + subgroupBroadcastFirst(x) + subgroupQuadBroadcast(x, 1u) + subgroupQuadSwapHorizontal(x);
  if (subgroupAny(x > 1.0) && subgroupAll(x < 9.0) || subgroupElect() || subgroupAllEqual(x)) x += float(subgroupBallotBitCount(b) + subgroupBallotFindLSB(b) + subgroupBallotExclusiveBitCount(b));
  if (subgroupInverseBallot(b) || subgroupBallotBitExtract(b, 3)) x += float(gl_SubgroupID + gl_NumSubgroups + gl_SubgroupSize + gl_SubgroupInvocationID + gl_SubgroupEqMask.x + gl_SubgroupLtMask.y);
  subgroupBarrier(); subgroupMemoryBarrier(); a[i] = x + float(y);
}
