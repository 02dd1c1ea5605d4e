/** The frames of what is on screen: of a source that goes on, or of something recorded. The contract's streams are built from these. */
import type { StatusFrame, StripFrame, OverviewFrame, JobsFrame, JobFrame, RulesFrame } from '#core/api/frames.ts'
import type { LocksFrame } from '#core/api/locks.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import { jobFrame } from './views/job.ts'
import { jobsFrame } from './views/jobs.ts'
import { locksFrame } from './views/locks.ts'
import { metadataFrame } from './views/metadata.ts'
import type { Console } from './console.ts'
import { overviewFrame } from './views/overview.ts'
import { rulesFrame } from './views/rules.ts'
import { stagedFrame } from './views/staged.ts'
import { statusFrame } from './views/status.ts'
import { stripFrame } from './views/strip.ts'
import { tokensFrame } from './views/tokens.ts'

type Frame<Q, F> = (query: Q, seq: number) => F

export interface ViewSet {
  readonly status: Frame<Parameters<typeof statusFrame>[1], StatusFrame>
  readonly strip: Frame<Parameters<typeof stripFrame>[1], StripFrame>
  readonly overview: Frame<Parameters<typeof overviewFrame>[1], OverviewFrame>
  readonly jobs: Frame<Parameters<typeof jobsFrame>[1], JobsFrame>
  readonly job: Frame<Parameters<typeof jobFrame>[1], JobFrame>
  readonly rules: Frame<Parameters<typeof rulesFrame>[1], RulesFrame>
  readonly metadata: Frame<Parameters<typeof metadataFrame>[1], MetadataFrame>
  readonly locks: Frame<Parameters<typeof locksFrame>[1], LocksFrame>
  readonly tokens: Frame<Parameters<typeof tokensFrame>[1], TokensFrame>
  readonly staged: Frame<Parameters<typeof stagedFrame>[1], StagedFrame>
}

/** Of a source that goes on. */
export const viewsOf = (console: Console): ViewSet => ({
  status: (q, seq) => statusFrame(console, q, seq),
  strip: (q, seq) => stripFrame(console.monitor, q, seq),
  overview: (q, seq) => overviewFrame(console.monitor, q, seq),
  jobs: (q, seq) => jobsFrame(console.monitor, q, seq),
  job: (q, seq) => jobFrame(console.monitor, q, seq),
  rules: (q, seq) => rulesFrame(console.desk, q, seq),
  metadata: (q, seq) => metadataFrame(console.monitor, q, seq),
  locks: (q, seq) => locksFrame(console.monitor, q, seq),
  tokens: (q, seq) => tokensFrame(console.monitor, q, seq),
  staged: (q, seq) => stagedFrame(console.desk, q, seq),
})
