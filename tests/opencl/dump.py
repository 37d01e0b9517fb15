# SPDX-License-Identifier: MIT
# dump.py - for dump.sh: a graph of small kernels, an image, one wait
import numpy as np
import pyopencl as cl

SOURCE = """
kernel void scale(global const float *in, global float *out, float f)
{
    out[get_global_id(0)] = in[get_global_id(0)] * f;
}

kernel void add(global const float *a, global const float *b, global float *c)
{
    c[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];
}

kernel void draw(global const float *in, write_only image2d_t out)
{
    write_imagef(out, (int2)(get_global_id(0), 0), in[get_global_id(0)] / 1024);
}
"""

N = 256
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(context, SOURCE).build()
numbers = np.arange(N, dtype=np.float32)
flags = cl.mem_flags
source = cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=numbers)
twice, thrice, total = (cl.Buffer(context, 0, numbers.nbytes) for _ in range(3))
image_format = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
image = cl.Image(context, 0, image_format, shape=(N, 1))
for _ in range(3):
    program.scale(queue, (N,), None, source, twice, np.float32(2))
    program.scale(queue, (N,), None, source, thrice, np.float32(3))
    program.add(queue, (N,), None, twice, thrice, total)
program.draw(queue, (N,), None, total, image)
result = np.empty_like(numbers)
cl.enqueue_copy(queue, result, total)
assert (result == 5 * numbers).all()
