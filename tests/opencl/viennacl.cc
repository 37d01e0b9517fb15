// SPDX-License-Identifier: MIT
/*
 * viennacl.cc - ViennaCL on the only OpenCL device: vectors, matrices, solvers, against the host
 *
 * Prints a line "ok" or "not ok" for each. tests/opencl/viennacl.sh compiles and runs it.
 */
#define VIENNACL_WITH_OPENCL
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/lu.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/norm_inf.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

static void report(const char *name, double error, double limit)
{
	if (error <= limit)
		std::printf("ok %s\n", name);
	else
		std::printf("not ok %s: the error is %g, over %g\n", name, error, limit);
}

template <typename T> static std::vector<T> numbers(size_t count, unsigned seed)
{
	std::vector<T> out(count);

	for (auto &value : out)
		value = T((seed = seed * 1664525u + 1013904223u) >> 8) / T(1 << 24) - T(0.5);
	return out;
}

static void vectors()
{
	const size_t n = 12345;
	auto x = numbers<float>(n, 1), y = numbers<float>(n, 2);
	viennacl::vector<float> a(n), b(n);
	double dot = 0, norm = 0, far = 0;

	viennacl::copy(x, a);
	viennacl::copy(y, b);
	for (size_t i = 0; i < n; i++) {
		dot += double(x[i]) * y[i];
		norm += double(x[i]) * x[i];
	}
	report("inner product", std::fabs(float(viennacl::linalg::inner_prod(a, b)) - dot), 1e-2);
	report("norm", std::fabs(float(viennacl::linalg::norm_2(a)) - std::sqrt(norm)), 1e-3);
	b += 2.5f * a;
	std::vector<float> out(n);
	viennacl::copy(b, out);
	for (size_t i = 0; i < n; i++)
		far = std::fmax(far, std::fabs(out[i] - (y[i] + 2.5f * x[i])));
	report("axpy", far, 1e-6);
}

template <typename T>
static void matrices(const char *product_name, const char *solve_name, double limit)
{
	const size_t n = 150;
	auto x = numbers<T>(n * n, 3), y = numbers<T>(n * n, 4), r = numbers<T>(n, 5);
	std::vector<std::vector<T>> rows(n, std::vector<T>(n)), others = rows, got = rows;
	viennacl::matrix<T> a(n, n), b(n, n);
	viennacl::vector<T> v(n);
	double far = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			rows[i][j] = x[i * n + j] + (i == j ? T(20) : T(0));
			others[i][j] = y[i * n + j];
		}
	viennacl::copy(rows, a);
	viennacl::copy(others, b);
	viennacl::matrix<T> c = viennacl::linalg::prod(a, b);
	viennacl::copy(c, got);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;
			for (size_t k = 0; k < n; k++)
				sum += double(rows[i][k]) * others[k][j];
			far = std::fmax(far, std::fabs(sum - got[i][j]));
		}
	report(product_name, far, limit);

	viennacl::copy(r, v);
	viennacl::vector<T> solution = v;
	viennacl::matrix<T> factors = a;
	viennacl::linalg::lu_factorize(factors);
	viennacl::linalg::lu_substitute(factors, solution);
	viennacl::vector<T> rest = viennacl::linalg::prod(a, solution);
	rest -= v;
	report(solve_name, T(viennacl::linalg::norm_inf(rest)), limit);
}

static void sparse()
{
	const unsigned n = 4000;
	std::vector<std::map<unsigned, float>> rows(n);
	auto r = numbers<float>(n, 6);
	viennacl::compressed_matrix<float> a(n, n);
	viennacl::vector<float> v(n);

	for (unsigned i = 0; i < n; i++) {
		rows[i][i] = 2.5f;
		if (i)
			rows[i][i - 1] = -1;
		if (i + 1 < n)
			rows[i][i + 1] = -1;
	}
	viennacl::copy(rows, a);
	viennacl::copy(r, v);
	viennacl::linalg::cg_tag tag(1e-6, 200);
	viennacl::vector<float> x = viennacl::linalg::solve(a, v, tag);
	viennacl::vector<float> rest = viennacl::linalg::prod(a, x);
	rest -= v;
	report("conjugate gradients on a sparse matrix", float(viennacl::linalg::norm_2(rest)), 1e-3);
}

int main()
{
	vectors();
	matrices<float>("product of matrices", "LU solver", 1e-3);
	matrices<double>("product of matrices in double", "LU solver in double", 1e-9);
	sparse();
}
