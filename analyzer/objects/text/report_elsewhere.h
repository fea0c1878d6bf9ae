/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_elsewhere.h - says where samples are that are at no object. */
#ifndef LC_OBJECTS_TEXT_REPORT_ELSEWHERE_H
#define LC_OBJECTS_TEXT_REPORT_ELSEWHERE_H

#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/screen.h"

enum lc_elsewhere {
	LC_ELSEWHERE_INTERPRETER,
	LC_ELSEWHERE_JVM_CODE,
	LC_ELSEWHERE_NATIVE_CODE,
	LC_ELSEWHERE_JVM_MEMORY, /* compiled code at thread stacks, metaspace, code, own data */
	LC_ELSEWHERE_OUTSIDE,    /* compiled code at other memory outside the heap */
	LC_ELSEWHERE_NO_ACCESS,  /* compiled code without a memory access */
	LC_ELSEWHERE_UNKNOWN,    /* the address, the object, or the record is missing */
	LC_ELSEWHERE_COUNT
};

/*
 * Divide the samples that are not in objects of known class; the parts add up to them. A profile
 * whose details are left out (filters) has only its buckets: memory and unknown.
 */
void lc_report_elsewhere_divide(const struct lc_view *v, uint64_t parts[LC_ELSEWHERE_COUNT]);

/* Samples among them while a class was loaded: below a class loader. */
uint64_t lc_report_elsewhere_loading(const struct lc_view *v);

/*
 * If most samples are not at accesses to objects, and they are enough for a finding, write their
 * parts by share, and the option that says more about the largest part.
 */
void lc_report_elsewhere(const struct lc_screen *s, const struct lc_report *r);

#endif
