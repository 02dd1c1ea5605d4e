/** Tokens: pool, clients and capacity of one data node. */
import type { TokensFrame, TokensSpan } from '#core/api/tokens.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { stand } from './position.ts'

export interface TokensQuery {
  readonly at: number | null
  readonly windowMs: number
  readonly node: string
  readonly span: TokensSpan
}

export function tokensFrame(monitor: ClusterMonitor, query: TokensQuery, seq: number): TokensFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const none = { now: null, start: null, lowest: null, lowestAtMs: null, reported: null, target: null }
  return {
    ...{ seq, sample, atMs, windowMs: query.windowMs, nodes: [], node: '', isKept: false },
    ...{ variant: 'haechi', preset: 'default', periodMs: 1000, checkMs: 1, batch: 1000 },
    ...{ epoch: 0, elapsedMs: 0, phase: 'end' },
    pool: { ...none, emptyFetches: 0 },
    series: { span: query.span, t: [], pool: [], reported: [], target: [], unconverted: [] },
    ...{ phases: [], epochs: [] },
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
    ...{ events: [], notices: [] },
  }
}
