/** What is known beside the samples of a file: of its servers what their names and rules tell, of the controller nothing. */
import type { Span } from '#core/api/history.ts'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import type { ForkServer } from '#core/sandbox/fork-inputs.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import type { ForkAround } from './fork-history.ts'

/** T where nobody says it, RPC/s of one OST. */
const USUAL_T = 500

/** @param span  at whose beginning the rules are those that stand. */
export function aroundPlayed(monitor: ClusterMonitor, played: RecordedCluster, span: Span): ForkAround {
  const { reader } = played.past
  const ruled = new Set(reader.rulesAt(span.fromMs).map((r) => r.server.split('/')[0]))
  const cpts = (server: string): number | undefined => {
    const of = reader.rulesAt(span.fromMs).filter((r) => r.server === server)
    return of.length > 0 ? Math.max(...of.map((r) => r.cpt)) + 1 : undefined
  }
  const isOwn = played.source.cluster === monitor.source.cluster
  return {
    ...{ cluster: played.source.cluster, kind: 'RECORDED', scenario: undefined, mdts: [] },
    servers: played.servers.map((name): ForkServer => ({
      ...{ name, kind: 'oss', version: undefined, cpts: cpts(name), policy: ruled.has(name) ? 'tbf' : 'fifo' },
    })),
    control: {
      ...{ controller: 'none', mode: 'observe', options: DEFAULT_LOOP_OPTIONS },
      ...{ maxRate: isOwn ? monitor.source.maxRate : USUAL_T, periodMs: monitor.source.periodNs / 1e6 },
    },
    intervalMs: played.past.tiers.find((t) => t.id === 'raw')?.stepMs ?? 1000,
    said: `Releases, policies, metadata servers, the controller and T are not kept in a file: T is ${isOwn ? 'that of now' : `taken for ${USUAL_T} RPC/s`}, policies are those that the rules need.`,
  }
}
