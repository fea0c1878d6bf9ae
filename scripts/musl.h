/* SPDX-License-Identifier: Apache-2.0 */
/*
 * musl.h - what scripts/musl has each file begin with
 *
 * musl loads no library with initial-exec thread-locals into a running process. Its other ones are
 * there before a thread can touch them, without a lock or an allocation.
 */
#define tls_model(model)
