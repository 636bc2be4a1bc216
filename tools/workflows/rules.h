// What the workflow files must keep to, so that what blocks a pull request goes on blocking it.
//
// Of each file:
//  - permissions at the top are `contents: read` and nothing else. A job may have `contents: write` alone, if it needs
//    another job and runs only for a push to main. pull_request_target and workflow_run, which run with a write token
//    for code that others sent, are no triggers.
//  - nothing is let off: no continue-on-error anywhere, no shell of its own, no condition on a job but the one above,
//  and
//    on a step only always(), only after the commands that block.
//  - every line of a `run` stands in an indented block of README.md to the letter, but for a redirection to the job's
//    summary; so there is no `|| true`, and no `;`. Actions are GitHub's own: checkout, cache, and the two for
//    artifacts; or ClusterFuzzLite's two, at one commit.
//  - a file with nothing but ClusterFuzzLite may have `actions: read` as well, for its corpora, and run on a schedule.
//  - a checkout keeps its credentials only in the job that writes.
// Of all of them together:
//  - format and lint, the exact gates, the fault catalogue and the fuzz smoke each run, unconditionally, in a job of a
//    workflow that every pull request starts, whatever it touches and whichever branch it goes to;
//  - the timed gates run on pull requests that touch their path, on pushes and on dispatch;
//  - ClusterFuzzLite runs on every pull request (code-change), and on a schedule (batch, prune, coverage).
//  - the history is updated in a job that writes, and nowhere else.
#ifndef TLSGATE_TOOLS_WORKFLOWS_RULES_H
#define TLSGATE_TOOLS_WORKFLOWS_RULES_H

#include <jansson.h>

// tg_workflows_check returns a new array of strings, one for each rule that is broken, each naming the file and the
// place; empty if all is well. `files` is an object: name -> tree (yaml_tree.h). `commands` are README's.
json_t *tg_workflows_check(const json_t *files, const json_t *commands);

#endif
