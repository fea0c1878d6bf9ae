/* SPDX-License-Identifier: Apache-2.0 */
/* out/json_processes.h - writes the choice and the groups of processes, for all reports in JSON. */
#ifndef LC_OUT_JSON_PROCESSES_H
#define LC_OUT_JSON_PROCESSES_H

#include "analyzer/model/load.h"
#include "analyzer/out/json.h"

/* Member "labels", an object of texts; empty where there are none (NULL). */
void lc_json_labels(struct lc_json *j, json_t *labels);

/* Member "by", an array of keys. */
void lc_json_by(struct lc_json *j, const struct lc_by *by);

/* Members "host" and "labels" of a process, in the object that is open; absent where unknown. */
void lc_json_host(struct lc_json *j, const struct lc_load_process *p);

/* Members "by" and "where", in the object that is open; absent where there is none. */
void lc_json_chosen(struct lc_json *j, const struct lc_load *l);

#endif
