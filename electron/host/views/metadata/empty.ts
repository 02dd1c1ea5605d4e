/** Metadata frame without data, for a source without a plane, or a plane that has not answered yet. */
import type { MetadataFrame } from '#core/api/padll.ts'
import type { Notice } from '#core/api/parts.ts'

/** Fields that every frame has, also without data. */
export type MetadataHead = Pick<MetadataFrame, 'seq' | 'sample' | 'atMs' | 'windowMs' | 'planes' | 'plane'>

const NO_CONTROLLER: MetadataFrame['controller'] = {
  name: '',
  host: '',
  epoch: 0,
  algorithm: 'static',
  epsilon: 0.25,
  split: 'equal',
  intervalMs: 1000,
  collectRounds: 1,
  cycleMs: null,
  lease: '',
  seenMs: null,
}

export const emptyTree = (): MetadataFrame['tree'] => ({
  key: [],
  kind: [],
  depth: [],
  name: [],
  jobId: [],
  colour: [],
  measured: [],
  limit: [],
  level: [],
  why: [],
  more: [],
})

export const emptyJobs = (): MetadataFrame['jobs'] => ({
  jobId: [],
  colour: [],
  stages: [],
  demandPolicy: [],
  limitPolicy: [],
  asked: [],
  allocated: [],
  measured: [],
  queued: [],
  throttledS: [],
  askedSeries: [],
  allocatedSeries: [],
  measuredSeries: [],
})

export const emptyChannels = (of: string): MetadataFrame['channels'] => ({
  of,
  key: [],
  channel: [],
  scope: [],
  operations: [],
  asked: [],
  limit: [],
  measured: [],
  waited: [],
  waitMs: [],
  queued: [],
  refillMs: [],
  spark: [],
})

/** Frame without data, with the reason in its notices. */
export const emptyMetadata = (
  head: MetadataHead,
  scope: string,
  notices: MetadataFrame['notices'] = [],
): MetadataFrame => ({
  ...head,
  scopes: [],
  scope,
  controller: NO_CONTROLLER,
  limit: null,
  tree: emptyTree(),
  jobs: emptyJobs(),
  t: [],
  asked: [],
  falseAllocation: [],
  limits: [],
  marks: [],
  channels: emptyChannels(''),
  policies: { text: '', steps: [], nextInS: null, startedMs: null },
  unexpressed: [],
  compiled: [],
  notices,
})

/**
 * Notice of a sample that is older than the memory of its plane.
 *
 * @param keptMs  time that memory reaches back.
 */
export const metadataForgotten = (keptMs: number): Notice => ({
  code: 'METADATA_FORGOTTEN',
  what: 'The metadata operations of this sample are no longer in memory',
  why: `control cycles are kept for the last ${Math.floor(keptMs / 1000)} s`,
})
