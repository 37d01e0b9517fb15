# SPDX-License-Identifier: MIT
"""What pyopencl computes on the only OpenCL device, against numpy: a line "ok" or "not ok" for each."""
import numpy as np
import pyopencl as cl
import pyopencl.array as array
import pyopencl.clmath as clmath
from pyopencl.algorithm import RadixSort, copy_if, partition, unique
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
rng = np.random.default_rng(1)
N = 70001


def report(name, test):
    try:
        problem = test()
    except Exception as error:  # a failed call of OpenCL is a result
        problem = f'{type(error).__name__}: {error}'.replace('\n', ' ')[:500]
    print(f'not ok {name}: {problem}' if problem else f'ok {name}', flush=True)


def differ(got, wanted, tolerance=0):
    got = got.get() if isinstance(got, array.Array) else np.asarray(got)
    if got.shape != wanted.shape:
        return f'shape {got.shape}, not {wanted.shape}'
    if tolerance:
        wrong = ~np.isclose(got, wanted, rtol=tolerance, atol=tolerance)
    else:
        wrong = got != wanted
    if np.any(wrong):
        first = np.flatnonzero(wrong)[0]
        return f'{np.sum(wrong)} of {wrong.size} wrong; at {first}: {got.flat[first]}, not {wanted.flat[first]}'
    return None


floats = rng.standard_normal(N).astype(np.float32)
doubles = rng.standard_normal(N)
ints = rng.integers(-1000, 1000, N, dtype=np.int32)
words = rng.integers(0, 2**32, N, dtype=np.uint32)
device_floats = array.to_device(queue, floats)
device_ints = array.to_device(queue, ints)


def arithmetic():
    got = (device_floats * 3 + device_floats) / 2 - device_ints.astype(np.float32)
    return differ(got, (floats * 3 + floats) / 2 - ints.astype(np.float32), 1e-6)


def complex_numbers():
    values = (floats + 1j * floats[::-1]).astype(np.complex64)
    got = array.to_device(queue, values)
    return differ(got * got.conj(), values * values.conj(), 1e-5)


def slices():
    got = device_ints.copy()
    got[100:2000] = 7
    wanted = ints.copy()
    wanted[100:2000] = 7
    return differ(got, wanted) or differ(got[1000:60000], wanted[1000:60000])


def take():
    order = rng.permutation(N).astype(np.int32)
    return differ(array.take(device_ints, array.to_device(queue, order)), ints[order])


def transposed():
    square = floats[:250 * 280].reshape(250, 280)
    return differ(array.to_device(queue, square).T.get(), square.T)


def functions():
    for name in 'sin', 'cos', 'exp', 'fabs', 'tanh':
        problem = differ(getattr(clmath, name)(device_floats), getattr(np, name)(floats), 1e-5)
        if problem:
            return f'{name}: {problem}'
    return None


def double_precision():
    got = array.to_device(queue, doubles)
    return differ(clmath.sqrt(got * got), np.abs(doubles), 1e-14)


def sums():
    got = [array.sum(device_ints).get(), array.max(device_ints).get(), array.min(device_ints).get(),
           array.dot(device_ints, device_ints).get()]
    return differ(got, np.array([ints.sum(dtype=np.int32), ints.max(), ints.min(),
                                 np.dot(ints, ints)]))


def reduction():
    kernel = ReductionKernel(context, np.float64, neutral='0', reduce_expr='a+b',
                             map_expr='(double)x[i]*y[i]', arguments='__global float *x, __global int *y')
    got = kernel(device_floats, device_ints).get()
    return differ(got, np.array(np.dot(floats.astype(np.float64), ints)), 1e-9)


def elementwise():
    kernel = ElementwiseKernel(context, 'float a, float *x, int *y, float *z', 'z[i] = a*x[i] + y[i]*i', 'axpy')
    got = array.empty_like(device_floats)
    kernel(np.float32(5), device_floats, device_ints, got)
    return differ(got, 5 * floats + ints * np.arange(N, dtype=np.float32), 1e-5)


def scans():
    got = device_ints.copy()
    InclusiveScanKernel(context, np.int32, 'a+b', '0')(got)
    problem = differ(got, np.cumsum(ints, dtype=np.int32))
    if problem:
        return f'inclusive: {problem}'
    got = device_ints.copy()
    ExclusiveScanKernel(context, np.int32, 'a+b', '0')(got)
    wanted = np.concatenate(([0], np.cumsum(ints[:-1], dtype=np.int32)))
    problem = differ(got, wanted)
    if problem:
        return f'exclusive: {problem}'
    got = device_ints.copy()
    InclusiveScanKernel(context, np.int32, 'a > b ? a : b', '-2147483647')(got)
    return differ(got, np.maximum.accumulate(ints))


def segmented_scan():
    starts = np.zeros(N, dtype=np.int8)
    starts[rng.choice(N, 300)] = 1
    starts[0] = 1
    kernel = GenericScanKernel(
        context, np.int32, arguments='__global int *x, __global char *starts, __global int *out',
        input_expr='x[i]', scan_expr='across_seg_boundary ? b : (a+b)', neutral='0',
        is_segment_start_expr='starts[i]', output_statement='out[i] = item')
    got = array.empty_like(device_ints)
    kernel(device_ints, array.to_device(queue, starts), got)
    wanted = np.concatenate([np.cumsum(part) for part in np.split(ints, np.flatnonzero(starts)[1:])])
    return differ(got, wanted.astype(np.int32))


def algorithms():
    got, count, _ = copy_if(device_ints, 'ary[i] > 300')
    problem = differ(got.get()[:int(count.get())], ints[ints > 300])
    if problem:
        return f'copy_if: {problem}'
    low, high, count, _ = partition(device_ints, 'ary[i] > 300')
    count = int(count.get())
    problem = differ(low.get()[:count], ints[ints > 300]) or differ(high.get()[:N - count], ints[ints <= 300])
    if problem:
        return f'partition: {problem}'
    ordered = np.sort(ints)
    got, count, _ = unique(array.to_device(queue, ordered))
    return differ(got.get()[:int(count.get())], np.unique(ordered))


def radix_sort():
    sort = RadixSort(context, '__global unsigned int *ary', key_expr='ary[i]', sort_arg_names=['ary'],
                     scan_kernel=GenericScanKernel)
    (got,), _ = sort(array.to_device(queue, words), key_bits=32)
    return differ(got, np.sort(words))


def events():
    program = cl.Program(context, '''
        __kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }
        __kernel void sum(__global const int *x, __global int *s) { atomic_add(s, x[get_global_id(0)]); }
    ''').build()
    unordered = cl.CommandQueue(
        context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE |
        cl.command_queue_properties.PROFILING_ENABLE)
    flags = cl.mem_flags
    data = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=ints)
    total = cl.Buffer(context, flags.READ_WRITE, 4)
    filled = cl.enqueue_fill_buffer(unordered, total, np.int32(0), 0, 4)
    before = [program.twice(unordered, (N,), None, data)]
    for _ in range(2):
        before = [program.twice(unordered, (N,), None, data, wait_for=before)]
    last = program.sum(unordered, (N,), None, data, total, wait_for=before + [filled])
    result = np.empty(1, np.int32)
    cl.enqueue_copy(unordered, result, total, wait_for=[last])
    if not before[0].profile.queued <= before[0].profile.start <= before[0].profile.end <= last.profile.end:
        return 'the profile is out of order'
    return differ(result, np.array([(ints * 8).sum(dtype=np.int32)]))


def image():
    pixels = rng.integers(0, 256, (97, 130, 4), dtype=np.uint8)
    source = cl.image_from_array(context, pixels, 4)
    target = cl.Image(context, cl.mem_flags.WRITE_ONLY, source.format, shape=(97, 130))
    cl.Program(context, '''
        __constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
        __kernel void turn(read_only image2d_t in, write_only image2d_t out)
        {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imageui(out, at.yx, read_imageui(in, nearest, at));
        }''').build().turn(queue, (130, 97), None, source, target)
    got = np.empty((130, 97, 4), np.uint8)
    cl.enqueue_copy(queue, got, target, origin=(0, 0), region=(97, 130))
    return differ(got, pixels.transpose(1, 0, 2))


for test in (arithmetic, complex_numbers, slices, take, transposed, functions, double_precision, sums, reduction,
             elementwise, scans, segmented_scan, algorithms, radix_sort, events, image):
    report(test.__name__.replace('_', ' '), test)
