import { expect, it } from 'vitest'
import type { ClusterCard } from '#core/api/clusters.ts'
import { noJobsState } from './no-jobs-model.ts'

const step = (detail: string, state: 'ok' | 'watch' | 'bad' = 'watch') => ({ id: 'jobs', state, detail, fix: '' })
const cardOf = (steps: ReturnType<typeof step>[], on = true): ClusterCard =>
  ({
    probes: [{ id: 'job_stats', on, note: '' }],
    servers: steps.map((s, i) => ({ host: `oss0${i + 1}`, roles: ['oss'], steps: [s] })),
  }) as unknown as ClusterCard

it.each([
  [
    'disable',
    cardOf([step('jobid_var=disable jobid_name=%j: jobs are not distinguished')]),
    /sums over jobs: they are 0/,
  ],
  ['probe', cardOf([], false), /come from job_stats and are empty/],
  ['stats', cardOf([step('jobid_var=x jobid_name=%j; no job_stats is there')]), /come from job_stats and are empty/],
  ['unread', cardOf([step('jobid_var cannot be read: no', 'bad')]), /come from job_stats and are empty/],
  ['idle', cardOf([step('jobid_var=x jobid_name=%j; job_stats of 1 target', 'ok')]), /are 0 until then/],
] as const)('without jobs (%s) it claims no totals that are read from job_stats alone', (cause, card, rates) => {
  const model = noJobsState(card, 2)
  expect([model.cause, model.why]).toEqual([cause, expect.stringMatching(rates)])
})
