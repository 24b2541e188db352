// The kernel `wide` of tests/all/kernels.rs: 64-bit integers, an atomic on them, a wave operation, byte-address buffers
// in another space, a constant buffer in b3 of space 2.
ByteAddressBuffer source : register(t1, space4);
RWByteAddressBuffer total : register(u7, space4);
cbuffer Scalars : register(b3, space2) { uint64_t bias; uint n; };

[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    if (id.x < n)
    {
        uint64_t value = source.Load<uint64_t>(id.x * 8) + bias;
        uint64_t old;
        total.InterlockedAdd64(0, value, old);
    }
    uint sum = WaveActiveSum(id.x);
    if (WaveIsFirstLane())
        total.Store<uint>(8, sum);
}
