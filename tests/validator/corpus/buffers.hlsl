struct Particle { float3 position; float mass; int4 tag; };
cbuffer Settings : register(b0) { float4 scale; uint count; float2 range; float3x4 turn; };
StructuredBuffer<Particle> particles : register(t0);
RWStructuredBuffer<Particle> moved : register(u0);
RWByteAddressBuffer raw : register(u1);
AppendStructuredBuffer<uint> list : register(u2);

float3 move(Particle p, uint i) {
    float3 by = mul(turn, float4(p.position, 1)).xyz;
    [loop] for (uint k = 0; k < i % 4; k++) {
        if (by.x > range.y) break;
        by += scale.xyz * p.mass;
    }
    return by;
}

[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uint index : SV_GroupIndex) {
    if (id.x >= count) return;
    Particle p = particles[id.x];
    p.position = move(p, id.x);
    switch (p.tag.x) {
        case 0: p.mass = sqrt(abs(p.mass)); break;
        case 1:
        case 2: p.tag.yz = p.tag.zy << 2; break;
        default: p.mass = lerp(p.mass, range.x, 0.5); break;
    }
    moved[id.x] = p;
    raw.Store2(id.x * 8, uint2(asuint(p.mass), index));
    uint old;
    raw.InterlockedAdd(0, 1, old);
    raw.InterlockedCompareExchange(4, old, index, old);
    if (old > 3) list.Append(old);
}
