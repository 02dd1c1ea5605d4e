/** Forks of what is on screen: gathered from memory or from what is kept, written as a scenario, checked. */
import { ok, type Result } from '#core/base/result.ts'
import type { Forked, ForkInput } from '#core/api/sandbox.ts'
import type { ForkInputs } from '#core/sandbox/fork-inputs.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { aroundOf, inputsFromHistory } from './fork-history.ts'
import { inputsFromMemory, LOOK_BACK_MS, reachesBack } from './fork-source.ts'
import { checkOf } from './scenarios-check.ts'

/**
 * What is forked: a stretch as it is kept, or the minute up to an instant from memory while it reaches back so far.
 *
 * Failures: FORK_EMPTY, FORK_HOLES.
 */
export function gather(monitor: ClusterMonitor, { span, atMs, workload }: ForkInput): Result<ForkInputs> {
  if (span) return inputsFromHistory(aroundOf(monitor), monitor.history.reader(), span, { workload, isReplay: true })
  if (atMs === null || reachesBack(monitor, atMs)) return inputsFromMemory(monitor, { atMs, workload })
  const minute = { fromMs: atMs - LOOK_BACK_MS, toMs: atMs }
  return inputsFromHistory(aroundOf(monitor), monitor.history.reader(), minute, { workload, isReplay: false })
}

/** Failures: FORK_EMPTY, FORK_HOLES, FORK_NO_TARGETS, FORK_INVALID. */
export function forkOf(monitor: ClusterMonitor, input: ForkInput): Result<Forked> {
  const inputs = gather(monitor, input)
  if (!inputs.ok) return inputs
  const fork = forkScenario(inputs.value)
  if (!fork.ok) return fork
  const { text, scenario } = fork.value
  return ok({ text, check: checkOf(scenario), cluster: inputs.value.cluster, atMs: inputs.value.atMs })
}
