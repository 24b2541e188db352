#version 460
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const int N = 8;
layout(constant_id = 2) const bool FLAG = true;
struct P { vec3 pos; float m; ivec2 q[3]; }; struct Q { P p[2]; mat2 r; };
layout(std140, binding = 0) uniform U { Q q; vec4 t[3]; float last; };
layout(std430, set = 1, binding = 1) buffer S { P ps[]; } s[2];
layout(std430, binding = 2) readonly buffer R { Q rq; float rs[]; };
layout(push_constant, row_major) uniform K { mat4x3 m; uint n; } k;
P f(P p, float x, out int c) { p.pos *= x; c = N * 2 + (FLAG ? 1 : 3); if (p.m > 1.0) return p; p.q[1] = ivec2(c); return p; }
void g(inout float a[4]) { for (int i = 0; i < 4; ++i) a[i] += float(i); }
float arr[N];
void main() {
  int c; P p = f(q.p[1], t[2].x, c); float a[4] = float[4](1, 2, 3, 4); g(a); P z = s[1].ps[gl_GlobalInvocationID.x]; z = p; z.pos = k.m * vec4(a[c & 3]); s[0].ps[k.n] = z; int i = 0;
  do { i++; arr[i & 7] = float(i); if (i == 5) continue; if (arr[3] > 7.0) break; } while (i < N);
  while (true) { if (i-- < 0) return; switch (i) { case 1: case 2: a[0] = 1; break; case 3: a[1] = 2; default: a[2] = 3; } if (a[0] > 3.0) break; }
  s[0].ps[1].m = last + rs[rs.length() - 1] + rq.r[1][0] + a[2] + arr[2];
}
