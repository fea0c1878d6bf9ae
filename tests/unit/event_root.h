/* event_root.h - a /proc and /sys of another machine in a temporary directory. */
#ifndef LC_TEST_EVENT_ROOT_H
#define LC_TEST_EVENT_ROOT_H

/* A new directory, removed by root_remove(). Static storage: one at a time. */
const char *root_make(void);
/* Write `text` and a newline to `path` in it, with the directories on the way. */
void root_put(const char *path, const char *text);
/* /proc/cpuinfo of a machine with two such CPUs. */
void root_put_cpu(const char *vendor, unsigned family, unsigned model, unsigned stepping);
void root_remove(void);

#endif
