/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/os/thread_kind.c - lists how HotSpot names its own threads. */
#include "src/jvm/os/thread_kind.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *begins;
	enum lc_thread_kind kind;
} names[] = {
	{ "C1 CompilerThre", LC_THREAD_JIT },
	{ "C2 CompilerThre", LC_THREAD_JIT },
	{ "JVMCI Compiler", LC_THREAD_JIT },
	{ "JVMCI-native Co", LC_THREAD_JIT },
	/* Since JDK 26 a longer name has its first seven and last six characters. */
	{ "C1 Comp..", LC_THREAD_JIT },
	{ "C2 Comp..", LC_THREAD_JIT },
	{ "JVMCI C..", LC_THREAD_JIT },
	{ "JVMCI-n..", LC_THREAD_JIT },
	{ "GC Thread#", LC_THREAD_GC }, /* Parallel and G1 */
	{ "G1 ", LC_THREAD_GC },
	{ "ZWorker", LC_THREAD_GC }, /* Z, whose names have begun with an X too */
	{ "ZDriver", LC_THREAD_GC },
	{ "ZDirector", LC_THREAD_GC },
	{ "ZStat", LC_THREAD_GC },
	{ "ZUncommitter", LC_THREAD_GC },
	{ "ZUnmapper", LC_THREAD_GC },
	{ "XWorker", LC_THREAD_GC },
	{ "XDriver", LC_THREAD_GC },
	{ "XDirector", LC_THREAD_GC },
	{ "XStat", LC_THREAD_GC },
	{ "XUncommitter", LC_THREAD_GC },
	{ "XUnmapper", LC_THREAD_GC },
	{ "RuntimeWorker#", LC_THREAD_GC },
	{ "Shenandoah ", LC_THREAD_GC },
	{ "Shenand..", LC_THREAD_GC },
	{ "StrDedup", LC_THREAD_GC },
	{ "VM Thread", LC_THREAD_JVM },
	{ "VM Periodic Tas", LC_THREAD_JVM },
	{ "Service Thread", LC_THREAD_JVM },
	{ "Monitor Deflati", LC_THREAD_JVM },
	{ "Sweeper thread", LC_THREAD_JVM }, /* of compiled code, until JDK 19 */
	{ "Signal Dispatch", LC_THREAD_JVM },
	{ "Attach Listener", LC_THREAD_JVM },
	{ "Notification Th", LC_THREAD_JVM },
	{ "VM Peri..Thread", LC_THREAD_JVM },
	{ "Monitor..Thread", LC_THREAD_JVM },
	{ "Signal ..atcher", LC_THREAD_JVM },
	{ "Attach ..stener", LC_THREAD_JVM },
	{ "Notific..Thread", LC_THREAD_JVM },
	{ "JFR Sampl", LC_THREAD_JVM },
};

enum lc_thread_kind lc_thread_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i].begins, strlen(names[i].begins)))
			return names[i].kind;
	return LC_THREAD_PROGRAM;
}
