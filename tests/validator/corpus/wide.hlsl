RWStructuredBuffer<double> doubles : register(u0);
RWStructuredBuffer<uint64_t> longs : register(u1);
StructuredBuffer<int> ints : register(t0);
struct Pair { int a; float b; };

Pair make(int a, inout float b) {
    Pair p;
    p.a = a % 7;
    b *= 2;
    p.b = b;
    return p;
}

[numthreads(8, 4, 2)]
void main(uint3 id : SV_DispatchThreadID) {
    uint i = id.x + id.y * 8;
    double d = doubles[i];
    float f = (float)d;
    Pair p = make(ints[i], f);
    uint64_t wide = (uint64_t)p.a << 33 | i;
    while (wide > 100) {
        wide = wide / 3 + (uint64_t)i;
        if ((wide & 1) == 0) continue;
        d = d * 0.5 + (double)p.b;
    }
    bool3 far = float3(f, p.b, 1) > 2.0;
    longs[i] = wide + (all(far) ? 1 : 2) + any(far);
    doubles[i] = d + dot(float3(1, 2, f), cross(float3(f, 1, 0), float3(0, p.b, 1)));
}
