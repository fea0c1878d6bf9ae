/* SPDX-License-Identifier: Apache-2.0 */
/* commands/metrics.h - writes numbers of a profile as text for Prometheus. */
#ifndef LC_COMMANDS_METRICS_H
#define LC_COMMANDS_METRICS_H

/*
 * Print the numbers of the profile in `directory` on stdout, in Prometheus's text format 0.0.4: the
 * heap, and what the lines that hold most have live. Returns 0, or an exit status after one line on
 * stderr.
 */
int lc_metrics_print(const char *directory);

#endif
