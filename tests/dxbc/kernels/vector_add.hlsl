// The kernel of that name in examples/kernels: c[i] = a[i] + b[i] for i < n.
StructuredBuffer<float> a : register(t0);
StructuredBuffer<float> b : register(t1);
RWStructuredBuffer<float> c : register(u2);
cbuffer Scalars : register(b0) { uint n; };

[numthreads(256, 1, 1)]
void vector_add(uint3 id : SV_DispatchThreadID)
{
    if (id.x < n)
        c[id.x] = a[id.x] + b[id.x];
}
