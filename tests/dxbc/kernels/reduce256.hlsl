// The kernel of that name in examples/kernels: one partial sum for each workgroup.
StructuredBuffer<float> input : register(t0);
RWStructuredBuffer<float> sums : register(u1);
cbuffer Scalars : register(b0) { uint n; };
groupshared float tile[256];

[numthreads(256, 1, 1)]
void reduce256(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint lane : SV_GroupIndex)
{
    float element = 0;
    if (id.x < n)
        element = input[id.x];
    tile[lane] = element;
    GroupMemoryBarrierWithGroupSync();
    for (uint stride = 128; stride != 0; stride >>= 1)
    {
        if (lane < stride)
            tile[lane] += tile[lane + stride];
        GroupMemoryBarrierWithGroupSync();
    }
    if (lane == 0)
        sums[group.x] = tile[0];
}
