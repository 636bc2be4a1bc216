// Exact limits for a proportion, and the distributions they are made of.
#ifndef TLSGATE_PERF_STATS_BINOMIAL_H
#define TLSGATE_PERF_STATS_BINOMIAL_H

#include <stdint.h>

// tg_incomplete_beta returns the regularized incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1, to about
// 1e-12: the continued fraction of the NIST Digital Library of Mathematical Functions, 8.17.22, by Lentz's method.
double tg_incomplete_beta(double a, double b, double x);

// tg_binomial_upper returns the one-sided upper Clopper-Pearson limit (1934) of a proportion of which `hits` in
// `trials` were seen: the p at which seeing so few has probability `error`. Exact: at every true p, the limit lies
// below p with probability at most `error`. hits <= trials, trials >= 1, 0 < error < 1.
double tg_binomial_upper(uint64_t hits, uint64_t trials, double error);

// tg_binomial_lower returns the lower limit, likewise: the p at which seeing so many has probability `error`.
double tg_binomial_lower(uint64_t hits, uint64_t trials, double error);

// tg_student_t returns the `p` quantile (0 < p < 1) of Student's t distribution with `freedom` > 0 degrees of freedom.
double tg_student_t(double freedom, double p);

#endif
