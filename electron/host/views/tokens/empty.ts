/** A frame of tokens where there is no data node, or nothing yet to be seen of it. */
import type { TokensFrame, TokensSpan } from '#core/api/tokens.ts'

type Body = Omit<TokensFrame, 'seq' | 'sample' | 'atMs' | 'windowMs' | 'nodes' | 'node'>

export const noDataNode = (span: TokensSpan): Body => ({
  ...{ isKept: false, variant: 'haechi', preset: 'default', periodMs: 1000, checkMs: 1, batch: 1000 },
  ...{ epoch: 0, elapsedMs: 0, phase: 'wait', phases: [], epochs: [], events: [], notices: [] },
  pool: { now: null, start: null, lowest: null, lowestAtMs: null, emptyFetches: 0, reported: null, target: null },
  series: { span, t: [], pool: [], reported: [], target: [], unconverted: [] },
  capacity: { epoch: [], estimate: [], used: [], reserved: [], profile: 0, least: 0, action: '', marks: [] },
  clients: {
    ...{ key: [], name: [], jobId: [], colour: [], state: [], reservation: [], limit: [], left: [], held: [] },
    ...{ usedReserved: [], usedPool: [], yielded: [], queued: [], inFlight: [], isThrottled: [], isStarved: [] },
    ...{ missed: [], iops: [], spark: [], p99Us: [], level: [], why: [] },
  },
  foot: {
    ...{ cpuEvents: 0, dataCpuEvents: 0, dataIos: 0, idleShare: null, worst: null },
    ...{ reserved: 0, admissible: 0, fluidFinish: 0 },
  },
})
