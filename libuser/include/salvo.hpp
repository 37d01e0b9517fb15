/* SPDX-License-Identifier: MIT */
/*
 * salvo.hpp - libsalvo for C++11 and later: objects that destroy themselves, errors as exceptions
 *
 * Each class owns one object of salvo.h, can be moved but not copied, and has get() for
 * functions that it does not wrap. Nothing here is in the library: all functions are inline, so
 * what a program needs of libsalvo is the C interface alone.
 *
 * An error is a salvo::error, a std::system_error with the errno and the library's message.
 * Lifetimes and threads are those of salvo.h: declare the device first, so that it is
 * destroyed last.
 */
#ifndef SALVO_HPP
#define SALVO_HPP

#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "salvo.h"

namespace salvo {

/* An errno and what failed. */
class error : public std::system_error {
public:
	error(int err, const std::string &what)
		: std::system_error(-err, std::generic_category(), what)
	{
	}
};

/* Return: @result, unless it is an error. */
inline int check(int result, const char *what)
{
	if (result < 0)
		throw error(result, what);
	return result;
}

/* Owns a @type; @destroy accepts null. */
template <typename type, void (*destroy)(type *)> class handle {
public:
	handle() = default;
	explicit handle(type *object) : object_(object) {}

	type *get() const { return object_.get(); }
	explicit operator bool() const { return static_cast<bool>(object_); }

protected:
	/* For functions that give an object out. */
	class out {
	public:
		explicit out(handle &to) : to_(to) {}
		~out() { to_.object_.reset(object_); }
		out(const out &) = delete;
		out &operator=(const out &) = delete;
		operator type **() { return &object_; }

	private:
		handle &to_;
		type *object_ = nullptr;
	};

private:
	struct destroyer {
		void operator()(type *object) const { destroy(object); }
	};
	std::unique_ptr<type, destroyer> object_;
};

class device : public handle<salvo_device, salvo_device_close> {
public:
	/* The first render node, or the embedded GPU. */
	device() { open(nullptr); }
	explicit device(const std::string &name) { open(name.c_str()); }

	/* Names for the constructor. */
	static std::vector<std::string> enumerate()
	{
		std::vector<std::string> names;
		char name[64];

		while (!salvo_device_enumerate(names.size(), name, sizeof(name)))
			names.emplace_back(name);
		return names;
	}
	salvo_device_info info() const
	{
		salvo_device_info info;

		salvo_device_get_info(get(), &info);
		return info;
	}

private:
	void open(const char *name)
	{
		check(salvo_device_open(name, out(*this)), name ? name : "salvo_device_open");
	}
};

class buffer : public handle<salvo_bo, salvo_bo_destroy> {
public:
	buffer() = default;
	buffer(const device &device, uint64_t bytes, uint32_t flags = 0)
	{
		check(salvo_bo_create(device.get(), bytes, flags, out(*this)), "salvo_bo_create");
	}
	/* Memory of others: a dma-buf, or on the embedded GPU a memfd. */
	static buffer import_fd(const device &device, int fd, uint32_t flags = 0)
	{
		buffer imported;

		check(salvo_bo_import_dmabuf(device.get(), fd, flags, out(imported)),
		      "salvo_bo_import_dmabuf");
		return imported;
	}
	/* Memory of the application, on the embedded GPU. */
	static buffer from_memory(const device &device, void *memory, uint64_t bytes,
				  uint32_t flags = 0)
	{
		buffer made;

		check(salvo_bo_create_from_memory(device.get(), memory, bytes, flags, out(made)),
		      "salvo_bo_create_from_memory");
		return made;
	}

	uint64_t size() const { return salvo_bo_size(get()); }
	template <typename type> type *map() const
	{
		void *map;

		check(salvo_bo_map(get(), &map), "salvo_bo_map");
		return static_cast<type *>(map);
	}
};

class image : public handle<salvo_image, salvo_image_destroy> {
public:
	image(const device &device, const salvo_image_info &info, uint32_t flags = 0)
	{
		check(salvo_image_create(device.get(), &info, flags, out(*this)),
		      "salvo_image_create");
	}
	/* Over a buffer, which must exist as long as the image. */
	image(const buffer &buffer, uint64_t offset, const salvo_image_info &info)
	{
		check(salvo_image_create_from_bo(buffer.get(), offset, &info, out(*this)),
		      "salvo_image_create_from_bo");
	}
	salvo_bo *bo() const { return salvo_image_bo(get()); }
};

class object : public handle<salvo_object, salvo_object_destroy> {
public:
	object() = default;
	/* From the bytes of image(). */
	explicit object(const std::string &image)
	{
		check(salvo_object_load(image.data(), image.size(), out(*this)),
		      "salvo_object_load");
	}
	/* From OpenCL C; the error has the compiler's messages. */
	static object compile(const std::string &source, const std::string &options = "")
	{
		object compiled;
		char *log = nullptr;
		const int err = salvo_object_compile(source.data(), source.size(), nullptr, 0,
						     options.c_str(), &log, out(compiled));

		finish(err, log);
		return compiled;
	}
	static object library(std::initializer_list<const object *> objects)
	{
		return link(nullptr, SALVO_OBJECT_LIBRARY, objects, "");
	}
	/* The image of a program for @device. */
	static object link(const device &device, std::initializer_list<const object *> objects,
			   const std::string &options = "")
	{
		return link(device.get(), SALVO_OBJECT_PROGRAM, objects, options);
	}
	uint32_t kind() const { return salvo_object_kind(get()); }
	std::string image() const
	{
		size_t bytes = 0;
		const void *image = salvo_object_image(get(), &bytes);

		return std::string(static_cast<const char *>(image), bytes);
	}

private:
	static object link(salvo_device *device, uint32_t kind,
			   std::initializer_list<const object *> objects,
			   const std::string &options)
	{
		std::vector<salvo_object *> all;
		char *log = nullptr;
		object linked;
		int err;

		for (const object *one : objects)
			all.push_back(one->get());
		err = salvo_object_link(device, kind, all.data(), all.size(), options.c_str(), &log,
					out(linked));
		finish(err, log);
		return linked;
	}
	static void finish(int err, char *log)
	{
		const std::string messages = log ? log : "";

		free(log);
		if (err < 0)
			throw error(err, messages);
	}
};

class program : public handle<salvo_program, salvo_program_destroy> {
public:
	program() = default;
	program(const device &device, const std::string &path)
	{
		check(salvo_program_load_file(device.get(), path.c_str(), out(*this)),
		      path.c_str());
	}
	/* From an object that object::link() has made. */
	program(const device &device, const object &object)
	{
		size_t bytes = 0;
		const void *image = salvo_object_image(object.get(), &bytes);

		check(salvo_program_load(device.get(), image, bytes, out(*this)),
		      "salvo_program_load");
	}
	/* From OpenCL C; the error has the compiler's messages. */
	static program build(const device &device, const std::string &source,
			     const std::string &options = "")
	{
		std::string messages;
		program built;
		char *log;
		int err;

		err = salvo_program_build(device.get(), source.data(), source.size(),
					  options.c_str(), &log, out(built));
		if (log)
			messages = log;
		free(log);
		if (err < 0)
			throw error(err, messages);
		return built;
	}
	std::vector<std::string> kernels() const
	{
		std::vector<std::string> names;

		while (names.size() < salvo_program_kernel_count(get()))
			names.emplace_back(salvo_program_kernel_name(get(), names.size()));
		return names;
	}
};

class kernel : public handle<salvo_kernel, salvo_kernel_destroy> {
public:
	kernel(const program &program, const std::string &name)
	{
		check(salvo_kernel_create(program.get(), name.c_str(), out(*this)), name.c_str());
	}

	/* One argument: a value, a buffer or an image. */
	template <typename type> kernel &set(unsigned int index, const type &value)
	{
		static_assert(std::is_trivially_copyable<type>::value &&
			      !std::is_pointer<type>::value, "values are copied byte by byte");
		return done(salvo_kernel_set_value(get(), index, &value, sizeof(value)));
	}
	kernel &set(unsigned int index, const buffer &buffer)
	{
		return set_range(index, buffer, 0, 0);
	}
	kernel &set(unsigned int index, const image &image)
	{
		return done(salvo_kernel_set_image(get(), index, image.get()));
	}
	kernel &set_range(unsigned int index, const buffer &buffer, uint64_t offset, uint64_t size)
	{
		return done(salvo_kernel_set_bo_range(get(), index, buffer.get(), offset, size));
	}
	kernel &set_local(unsigned int index, size_t bytes)
	{
		return done(salvo_kernel_set_local(get(), index, bytes));
	}
	kernel &set_sampler(unsigned int index, uint32_t sampler)
	{
		return done(salvo_kernel_set_sampler(get(), index, sampler));
	}
	/* All arguments, from the first on. */
	template <typename... types> kernel &args(const types &...values)
	{
		set_from(0, values...);
		return *this;
	}
	/* Up to 3 dimensions; an empty @group leaves the choice to the library. */
	kernel &grid(std::initializer_list<uint32_t> items,
		     std::initializer_list<uint32_t> group = {})
	{
		if (group.size() && group.size() != items.size())
			throw error(-EINVAL, "grid: items and group have different dimensions");
		return done(salvo_kernel_set_grid(get(), items.size(), items.begin(),
						  group.size() ? group.begin() : nullptr));
	}

private:
	kernel &done(int err)
	{
		check(err, salvo_kernel_error(get()));
		return *this;
	}
	void set_from(unsigned int) {}
	template <typename first, typename... rest>
	void set_from(unsigned int index, const first &value, const rest &...values)
	{
		set(index, value);
		set_from(index + 1, values...);
	}
};

/* Functions that add a command return its index. */
class batch : public handle<salvo_batch, salvo_batch_destroy> {
public:
	explicit batch(const device &device)
	{
		check(salvo_batch_create(device.get(), out(*this)), "salvo_batch_create");
	}

	unsigned int dispatch(const kernel &kernel)
	{
		return done(salvo_batch_dispatch(get(), kernel.get()));
	}
	/* With a label, for messages and dumps. */
	unsigned int dispatch(const kernel &kernel, const std::string &label)
	{
		const unsigned int index = dispatch(kernel);

		done(salvo_batch_set_label(get(), index, label.c_str()));
		return index;
	}
	unsigned int pipe_control(unsigned int consumer, unsigned int producer)
	{
		return done(salvo_batch_pipe_control(get(), consumer, producer));
	}
	unsigned int barrier() { return done(salvo_batch_barrier(get())); }
	unsigned int copy(const buffer &to, uint64_t to_offset, const buffer &from,
			  uint64_t from_offset, uint64_t bytes)
	{
		return done(salvo_batch_copy(get(), to.get(), to_offset, from.get(), from_offset,
					     bytes));
	}
	unsigned int fill(const buffer &buffer, uint64_t offset, uint64_t bytes, uint32_t pattern)
	{
		return done(salvo_batch_fill(get(), buffer.get(), offset, bytes, pattern));
	}
	unsigned int append(const batch &part)
	{
		return done(salvo_batch_append(get(), part.get()));
	}
	template <typename type>
	void patch(unsigned int command, unsigned int index, const type &value)
	{
		static_assert(std::is_trivially_copyable<type>::value &&
			      !std::is_pointer<type>::value, "values are copied byte by byte");
		done(salvo_batch_patch_value(get(), command, index, &value, sizeof(value)));
	}
	void patch(unsigned int command, unsigned int index, const buffer &buffer,
		   uint64_t offset = 0, uint64_t size = 0)
	{
		done(salvo_batch_patch_bo(get(), command, index, buffer.get(), offset, size));
	}
	void patch(unsigned int command, unsigned int index, const image &image)
	{
		done(salvo_batch_patch_image(get(), command, index, image.get()));
	}
	void enable_hazards() { done(salvo_batch_enable_hazards(get())); }
	void reset() { salvo_batch_reset(get()); }
	unsigned int count() const { return salvo_batch_count(get()); }

private:
	unsigned int done(int result) { return check(result, salvo_batch_error(get())); }
};

class fence : public handle<salvo_fence, salvo_fence_destroy> {
public:
	fence() = default;

	/* Return: false after @timeout_ns. Throws if the batch has failed. */
	bool wait(int64_t timeout_ns = -1) const
	{
		const int err = salvo_fence_wait(get(), timeout_ns);
		salvo_error why;

		if (!err || err == -ETIME)
			return !err;
		salvo_fence_get_error(get(), &why);
		throw error(err, std::string(why.kernel ? why.kernel : "the batch") + ": " +
					 salvo_error_name(why.kind));
	}

private:
	friend class queue;
};

class queue : public handle<salvo_queue, salvo_queue_destroy> {
public:
	explicit queue(const device &device, int priority = SALVO_QUEUE_NORMAL,
		       uint64_t eu_mask = 0)
	{
		check(salvo_queue_create_priority(device.get(), eu_mask, priority, out(*this)),
		      "salvo_queue_create_priority");
	}

	fence submit(const batch &batch, std::initializer_list<const fence *> waits = {})
	{
		std::vector<salvo_fence *> raw;
		fence done;

		for (const fence *wait : waits)
			raw.push_back(wait->get());
		check(salvo_queue_submit(get(), batch.get(), raw.data(), raw.size(),
					 fence::out(done)), salvo_batch_error(batch.get()));
		return done;
	}
};

} // namespace salvo

#endif /* SALVO_HPP */
