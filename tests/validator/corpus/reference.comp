#version 460
#extension GL_EXT_buffer_reference : enable
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable
layout(local_size_x = 4) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { vec4 v; Node next; uint n; float data[]; };
layout(push_constant) uniform P { Node root; uint64_t raw; } p;
void main() { Node n = p.root; for (int i = 0; i < 3; ++i) { n.v *= 2.0; n = n.next; } Node m = Node(p.raw); m.data[gl_GlobalInvocationID.x] = n.v.x + float(n.n); uint64_t q = uint64_t(m); m.n = uint(q); }
