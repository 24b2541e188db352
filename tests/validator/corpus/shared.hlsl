groupshared float tile[16][17];
groupshared uint total;
RWBuffer<float> values : register(u0);
Texture2D<float4> image : register(t0);
SamplerState linear_sampler : register(s0);
RWTexture2D<float4> target : register(u1);

[numthreads(16, 16, 1)]
void main(uint3 id : SV_DispatchThreadID, uint3 local : SV_GroupThreadID, uint3 group : SV_GroupID) {
    if (local.x + local.y == 0) total = 0;
    tile[local.y][local.x] = image.Load(int3(id.xy, 0)).x;
    GroupMemoryBarrierWithGroupSync();
    float sum = 0;
    [unroll] for (int i = 0; i < 16; i++) sum += tile[i][local.x] * tile[local.y][i];
    uint bits = countbits(asuint(sum)) + firstbithigh(id.x) + reversebits(group.y);
    uint before;
    InterlockedMax(total, bits, before);
    float4 texel = image.SampleLevel(linear_sampler, float2(id.xy) / 64, 0);
    GroupMemoryBarrierWithGroupSync();
    values[id.y * 64 + id.x] = sum + total + WaveActiveSum(sum) + WavePrefixSum(1.0);
    if (WaveActiveAnyTrue(before > 3) || WaveIsFirstLane())
        target[id.xy] = texel * WaveReadLaneFirst(sum) + float4(isnan(sum), sin(sum), exp2(sum), pow(sum, 2.5));
}
