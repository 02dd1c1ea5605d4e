/** Forks of the active view: gathered from memory or from kept samples, written as a scenario, checked. */
import { ok, type Result } from '#core/base/result.ts'
import type { Forked, ForkInput } from '#core/api/sandbox.ts'
import type { ForkInputs, ForkServer } from '#core/sandbox/fork-inputs.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { Span } from '#core/api/history.ts'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import { aroundOf, inputsFromHistory, type ForkAround } from './fork-history.ts'
import { inputsFromMemory, LOOK_BACK_MS, reachesBack } from './fork-source.ts'
import { checkOf } from './scenarios-check.ts'

/** Default of T, RPC/s of one OST. */
const USUAL_T = 500

/**
 * Facts about a file besides its samples: servers from their names and rules; nothing about the controller.
 *
 * @param span  the rules are those at its beginning.
 */
function aroundPlayed(monitor: ClusterMonitor, played: RecordedCluster, span: Span): ForkAround {
  const { reader } = played.past
  const ruled = new Set(reader.rulesAt(span.fromMs).map((r) => r.server.split('/')[0]))
  const cpts = (server: string): number | undefined => {
    const of = reader.rulesAt(span.fromMs).filter((r) => r.server === server)
    return of.length > 0 ? Math.max(...of.map((r) => r.cpt)) + 1 : undefined
  }
  const isSameCluster = played.source.cluster === monitor.source.cluster
  return {
    cluster: played.source.cluster,
    kind: 'RECORDED',
    scenario: undefined,
    mdts: [],
    servers: played.servers.map((name): ForkServer => ({
      name,
      kind: 'oss',
      version: undefined,
      cpts: cpts(name),
      policy: ruled.has(name) ? 'tbf' : 'fifo',
    })),
    control: {
      controller: 'none',
      mode: 'observe',
      options: DEFAULT_LOOP_OPTIONS,
      maxRate: isSameCluster ? monitor.source.maxRate : USUAL_T,
      periodMs: monitor.source.periodNs / 1e6,
    },
    intervalMs: played.past.tiers.find((t) => t.id === 'raw')?.stepMs ?? 1000,
    notice: `Releases, policies, metadata servers, the controller and T are not kept in a file: T is ${isSameCluster ? 'the current one' : `assumed to be ${USUAL_T} RPC/s`}, policies are inferred from the rules.`,
  }
}

/**
 * Gathers fork inputs: of a kept range, or of the minute up to an instant from memory if it reaches back that far.
 *
 * @param played  playback from a file: then it is forked, without anything of the source behind it.
 *
 * Failures: FORK_EMPTY, FORK_HOLES.
 */
export function gather(
  monitor: ClusterMonitor,
  { span, atMs, workload }: ForkInput,
  played?: RecordedCluster,
): Result<ForkInputs> {
  const minuteTo = (toMs: number): { fromMs: number; toMs: number } => ({ fromMs: toMs - LOOK_BACK_MS, toMs })
  if (played) {
    const { reader } = played.past
    // Its last sample belongs to the minute before its end.
    const range = span ?? within(minuteTo((atMs ?? played.toMs) + 1), reader.extent())
    return inputsFromHistory(aroundPlayed(monitor, played, range), reader, range, {
      workload,
      isReplay: span !== null,
    })
  }
  if (span) {
    const around = aroundOf(monitor, span.fromMs)
    return inputsFromHistory(around, monitor.history.reader(), span, { workload, isReplay: true })
  }
  if (atMs === null || reachesBack(monitor, atMs)) return inputsFromMemory(monitor, { atMs, workload })
  return inputsFromHistory(aroundOf(monitor, atMs), monitor.history.reader(), minuteTo(atMs), {
    workload,
    isReplay: false,
  })
}

/** A file may begin within the minute. */
const within = (
  span: { readonly fromMs: number; readonly toMs: number },
  extent: { readonly fromMs: number } | undefined,
): { fromMs: number; toMs: number } => ({
  ...span,
  fromMs: Math.min(span.toMs - 1, Math.max(span.fromMs, extent?.fromMs ?? 0)),
})

/** Failures: FORK_EMPTY, FORK_HOLES, FORK_NO_TARGETS, FORK_INVALID. */
export function forkOf(monitor: ClusterMonitor, input: ForkInput, played?: RecordedCluster): Result<Forked> {
  const inputs = gather(monitor, input, played)
  if (!inputs.ok) return inputs
  const fork = forkScenario(inputs.value)
  if (!fork.ok) return fork
  const { text, scenario } = fork.value
  const { cluster, atMs } = inputs.value
  return ok({ text, check: checkOf(scenario), cluster, atMs, planes: scenario.fork?.planes ?? [] })
}
