/** Forks of what is on screen: gathered from memory or from what is kept, written as a scenario, checked. */
import { ok, type Result } from '#core/base/result.ts'
import type { Forked, ForkInput } from '#core/api/sandbox.ts'
import type { ForkInputs } from '#core/sandbox/fork-inputs.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import { aroundOf, inputsFromHistory } from './fork-history.ts'
import { aroundPlayed } from './fork-played.ts'
import { inputsFromMemory, LOOK_BACK_MS, reachesBack } from './fork-source.ts'
import { checkOf } from './scenarios-check.ts'

/**
 * What is forked: a stretch as it is kept, or the minute up to an instant from memory while it reaches back so far.
 *
 * @param played  what is played back from a file: then it is forked, and nothing of the source behind it.
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
    const stretch = span ?? within(minuteTo((atMs ?? played.toMs) + 1), reader.kept())
    return inputsFromHistory(aroundPlayed(monitor, played, stretch), reader, stretch, {
      workload,
      isReplay: span !== null,
    })
  }
  if (span) return inputsFromHistory(aroundOf(monitor), monitor.history.reader(), span, { workload, isReplay: true })
  if (atMs === null || reachesBack(monitor, atMs)) return inputsFromMemory(monitor, { atMs, workload })
  return inputsFromHistory(aroundOf(monitor), monitor.history.reader(), minuteTo(atMs), { workload, isReplay: false })
}

/** A file may begin within the minute. */
const within = (
  span: { readonly fromMs: number; readonly toMs: number },
  kept: { readonly fromMs: number } | undefined,
): { fromMs: number; toMs: number } => ({
  ...span,
  fromMs: Math.min(span.toMs - 1, Math.max(span.fromMs, kept?.fromMs ?? 0)),
})

/** Failures: FORK_EMPTY, FORK_HOLES, FORK_NO_TARGETS, FORK_INVALID. */
export function forkOf(monitor: ClusterMonitor, input: ForkInput, played?: RecordedCluster): Result<Forked> {
  const inputs = gather(monitor, input, played)
  if (!inputs.ok) return inputs
  const fork = forkScenario(inputs.value)
  if (!fork.ok) return fork
  const { text, scenario } = fork.value
  return ok({ text, check: checkOf(scenario), cluster: inputs.value.cluster, atMs: inputs.value.atMs })
}
