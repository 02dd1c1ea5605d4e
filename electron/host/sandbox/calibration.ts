/**
 * Calibration at the host: forks a range, runs it in the sandbox threads with several seeds, and compares the results
 * with the recorded range.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Calibration, ForkInput } from '#core/api/sandbox.ts'
import type { Span } from '#core/api/history.ts'
import { calibrate } from '#core/sandbox/calibrate.ts'
import { targetNames } from '#core/sandbox/fork-names.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { RunReport } from '#core/sandbox/run-report.ts'
import type { Variant } from '#core/sandbox/variant.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { Pool } from '../../sandbox/pool.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import { gather } from './fork.ts'
import { knowledgeOf } from './scenarios-check.ts'

/** Longest range, s: beyond it a run is too compressed to be compared. */
const SPAN_MAX_S = 6 * 3600
const EVENTS_MAX = 50
const SLO_MS = 500

export interface CalibrationOptions {
  readonly signal?: AbortSignal | undefined
  /** Program of the threads (tests). */
  readonly program?: string | undefined
  /** Playback from a file in place of the source. */
  readonly played?: RecordedCluster | undefined
  /** Called after every completed seed. */
  readonly onSeed?: ((done: number) => void) | undefined
}

/**
 * Calibrates on a range.
 *
 * Failures: those of a fork; CALIBRATION_TOO_LONG; CALIBRATION_CANCELLED; those of a run.
 */
export async function calibrateOver(
  monitor: ClusterMonitor,
  input: ForkInput & { readonly span: Span; readonly seeds: number },
  options: CalibrationOptions = {},
): Promise<Result<Calibration>> {
  const { span, workload, seeds } = input
  if (span.toMs - span.fromMs > SPAN_MAX_S * 1000) {
    return fail({
      code: 'CALIBRATION_TOO_LONG',
      what: 'The range is too long for calibration',
      why: `at most ${SPAN_MAX_S / 3600} h`,
      next: 'Choose a shorter one.',
    })
  }
  const inputs = gather(monitor, input, options.played)
  if (!inputs.ok) return inputs
  const fork = forkScenario(inputs.value)
  if (!fork.ok) return fork
  const seconds = inputs.value.binAtS.length * inputs.value.binS
  const reports = await runSeeds(fork.value.scenario, seconds, seeds, options)
  if (!reports.ok) return reports
  const names = targetNames([...inputs.value.targets, ...inputs.value.mdts].map((t) => t.name))
  const reader = options.played?.past.reader ?? monitor.history.reader()
  const events = reader
    .events(span.fromMs, span.toMs, EVENTS_MAX)
    .filter((e) => e.kind === 'lost')
    .map((e) => e.text)
  const found = calibrate(inputs.value, reports.value, { nameOf: (t) => names.get(t) ?? t, events })
  return ok({
    cluster: inputs.value.cluster,
    span,
    workload,
    seeds,
    errors: [...found.errors],
    targets: found.targets,
    jobs: found.jobs,
    chart: found.chart,
    sentence: found.sentence,
    isInRange: found.isInRange,
    knowledge: [...found.knowledge, ...knowledgeOf(fork.value.scenario)],
  })
}

/** Recorded control: the controller if it was enforcing, else none. */
function asItWas({ control }: Scenario): Variant {
  return {
    name: 'As recorded',
    controller: control.mode === 'enforce' ? control.controller : 'none',
    maxRate: null,
    periodMs: null,
    adaptbf: {},
    rules: [],
    metadata: null,
    metadataLimits: [],
    haechi: 'scenario',
    tokens: {},
    locks: null,
    lockOptions: {},
    onS: 0,
  }
}

const CANCELLED: Failure = { code: 'CALIBRATION_CANCELLED', what: 'The calibration was canceled' }

function runSeeds(
  scenario: Scenario,
  seconds: number,
  seeds: number,
  { signal, program, onSeed }: CalibrationOptions,
): Promise<Result<RunReport[]>> {
  if (signal?.aborted) return Promise.resolve(fail(CANCELLED))
  const reports: RunReport[] = []
  return new Promise((resolve) => {
    const variant = asItWas(scenario)
    const pool = new Pool({
      tasks: Array.from({ length: seeds }, (_, i) => ({
        scenario,
        variant,
        index: 0,
        seed: i + 1,
        seconds,
        sloWaitMs: SLO_MS,
      })),
      onRun: (_, ran) => {
        if ('report' in ran) reports.push(ran.report)
        onSeed?.(reports.length)
      },
      onEnd: (failure) => {
        signal?.removeEventListener('abort', cancel)
        resolve(failure ? fail(failure) : ok(reports))
      },
      program,
      yields: true,
    })
    const cancel = (): void => {
      void pool.end()
      resolve(fail(CANCELLED))
    }
    signal?.addEventListener('abort', cancel, { once: true })
  })
}
