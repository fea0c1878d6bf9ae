/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/launch_told.h - what the preloaded library tells `locus run` of the java commands below it.
 *
 * `locus run` cannot see which of the processes below it is a JVM, nor why one recorded nothing.
 * The environment variable LC_TOLD_VARIABLE names a pipe that `locus run` has open:
 * "PID FD INODE". The preloaded library opens /proc/PID/fd/FD, compares the inode, since a process
 * may outlive `locus run`, and writes one byte. No descriptor is inherited.
 */
#ifndef LC_BASE_LAUNCH_TOLD_H
#define LC_BASE_LAUNCH_TOLD_H

#define LC_TOLD_VARIABLE "LOCUS_TOLD"

enum lc_launch_told {
	LC_TOLD_AGENT = 'a',    /* a JVM was given the agent */
	LC_TOLD_QUESTION = 'q', /* a launcher only answers, as `java -version` does */
	LC_TOLD_ARCHIVE = 'w'   /* a JVM writes an archive of its classes; a line has said so */
};

#endif
