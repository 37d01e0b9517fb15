/* SPDX-License-Identifier: MIT */
/*
 * binding.h - bind and unbind the driver, load and unload the module, as root
 *
 * Functions return 0 or a negative errno.
 */
#ifndef BINDING_H
#define BINDING_H

#include <stdbool.h>
#include <stddef.h>

/** MODULE - The module that run-vm has loaded. */
#define MODULE	"/modules/salvo.ko"
#define DRIVER	"/sys/bus/pci/drivers/salvo"

/** driver_function() - The name of the PCI function that the driver is bound to. */
int driver_function(char *name, size_t bytes);
int driver_unbind(const char *function);
int driver_bind(const char *function);
/** driver_rebind() - Unbind and bind. */
int driver_rebind(void);
/** driver_wait() - Wait for a render node; false after five seconds. */
bool driver_wait(void);

/** module_unload_soon() - unload_module() for a module that may be in use for some seconds. */
int module_unload_soon(void);

#endif /* BINDING_H */
