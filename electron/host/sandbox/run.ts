/** Sandbox runs at the host: one at a time, and the results that can still be exported. */
import { randomBytes } from 'node:crypto'
import type { KnowledgeLine, OutsideInput, RunEvent, RunInput, RunResult } from '#core/api/sandbox.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import { withoutIdlePlanes, type WithoutIdle } from '#core/sandbox/idle-planes.ts'
import { ComparisonRun, type ComparisonEvent, type Cost } from '../../sandbox/comparison-run.ts'
import { variantOf } from '../../sandbox/variant-input.ts'
import { toNotice } from '../views/status.ts'
import { outsideInputs } from './outside-inputs.ts'
import { knowledgeOf } from './scenarios-check.ts'

/** Number of seeds below which the ends of a band are close to the observed extremes. */
const FEW_SEEDS = 10

/** Uncertainty of a run itself, in addition to that of its scenario. */
function runKnowledge(
  { rest, jobs }: Pick<Comparison, 'rest' | 'jobs'>,
  seeds: number,
  omitted: WithoutIdle['omitted'],
): KnowledgeLine[] {
  const lines: KnowledgeLine[] = []
  const number = (n: number): string => Math.round(n).toLocaleString('en-GB')
  if (rest.jobs > 0) {
    const text = `${number(rest.jobs)} jobs with the least demand are simulated but not listed: in total ${number(rest.rpcs)} RPC/s and ${number(rest.bps / 1e6)} MB/s in the baseline.`
    lines.push({ level: 'watch', text })
  }
  if (!jobs.role.includes('hog')) {
    lines.push({
      level: 'ok',
      text: 'No job of the baseline takes more than its fair share by node count: no hog, no victim.',
    })
  }
  if (seeds === 1) {
    lines.push({ level: 'watch', text: 'One seed: the spread is unknown.' })
  } else if (seeds < FEW_SEEDS) {
    lines.push({ level: 'watch', text: `${seeds} seeds: the ends of the bands are uncertain.` })
  }
  if (omitted.length > 0) {
    const names = omitted.map((plane) => (plane === 'locks' ? 'the ccPFS' : 'the data nodes')).join(' and ')
    const text = `Not run, because no variant changes them and they share nothing with the Lustre servers: ${names}.`
    lines.push({ level: 'ok', text })
  }
  return lines
}

/** Most results kept for export. */
const RESULTS_MAX = 10

const BUSY: Failure = {
  code: 'SANDBOX_BUSY',
  what: 'The run was not started',
  why: 'another one is running, here or in another window',
  unaffected: 'The one that is running.',
  next: 'Wait until it ends, or cancel it.',
}

const NONE_STAGED: Failure = {
  code: 'NO_RESULT',
  what: 'There is no sandbox result',
  why: 'no variant was staged since the console started',
  next: 'Stage a variant in the sandbox.',
}

/** Result, and the source of its scenario's fork. */
export interface FinishedRun {
  readonly result: RunResult
  /** undefined: the scenario is not a fork. */
  readonly cluster: string | undefined
  /** Instant of the fork on the cluster's clock; undefined if it is not a fork. */
  readonly forkMs: number | undefined
  /** Wall clock time when the run ended. */
  readonly endedMs: number
  /** Cluster on which a variant of it was last staged, and when, on the cluster's clock; undefined: on none. */
  readonly staged?: { readonly cluster: string; readonly atMs: number } | undefined
}

export interface RunServiceParts {
  /** Colors of the jobs of the active source. */
  readonly jobColors: () => JobColors
  /** Program of the threads (tests). */
  readonly program?: string | undefined
}

export class RunService {
  readonly #parts: RunServiceParts
  readonly #finished = new Map<string, FinishedRun>()
  #running: ComparisonRun | undefined

  constructor(parts: RunServiceParts) {
    this.#parts = parts
  }

  /**
   * Starts a comparison. It ends with its result, with a notice when a run failed, or without either when `signal`
   * aborts or the caller stops reading.
   *
   * Failures: SANDBOX_BUSY; those of `parseScenario`, before any thread starts.
   */
  run(input: RunInput, signal?: AbortSignal): Result<AsyncGenerator<RunEvent, void, void>> {
    if (this.#running) return fail(BUSY)
    const read = parseScenario(input.text)
    if (!read.ok) return read
    const scenario = read.value
    const { seconds, sloWaitMs } = input
    const seeds = Array.from({ length: input.seeds }, (_, i) => input.firstSeed + i)
    let isOver = false
    const variants = input.variants.map(variantOf)
    const { scenario: played, omitted } = withoutIdlePlanes(scenario, variants)
    const run: ComparisonRun = new ComparisonRun(
      { scenario: played, variants, seeds, seconds, sloWaitMs },
      {
        jobColors: this.#parts.jobColors,
        signal,
        program: this.#parts.program,
        yields: true,
        onOver: () => {
          isOver = true
          this.#running = undefined
        },
      },
    )
    // An already aborted signal has ended it.
    if (!isOver) this.#running = run
    const of = (event: ComparisonEvent): RunEvent => {
      if (event.kind === 'progress') return event
      if (event.kind === 'failed') return { kind: 'failed', notice: toNotice(event.failure) }
      const { comparison, cost } = event
      const ended = { comparison, cost, seeds, seconds, sloWaitMs }
      return { kind: 'result', result: this.#keep(scenario, ended, omitted, outsideInputs(played)) }
    }
    return ok(mapped(run.events(), of))
  }

  #keep(
    scenario: Scenario,
    of: { comparison: Comparison; cost: Cost } & Pick<RunResult, 'seeds' | 'seconds' | 'sloWaitMs'>,
    omitted: WithoutIdle['omitted'],
    outside: OutsideInput[],
  ): RunResult {
    const { comparison, cost, seeds, seconds, sloWaitMs } = of
    const knowledge: KnowledgeLine[] = [...runKnowledge(comparison, seeds.length, omitted), ...knowledgeOf(scenario)]
    const result: RunResult = {
      ...(outside.length > 0 ? { outside } : {}),
      id: randomBytes(6).toString('hex'),
      title: scenario.title,
      seconds,
      seeds,
      sloWaitMs,
      knowledge,
      cost: { ...cost },
      jobs: comparison.jobs,
      variants: comparison.variants,
      verdict: comparison.verdict,
    }
    const { fork } = scenario
    const forkMs = fork && Date.parse(fork.at)
    this.#finished.set(result.id, { result, cluster: fork?.cluster, forkMs, endedMs: Date.now() })
    const [oldest] = this.#finished.keys()
    if (this.#finished.size > RESULTS_MAX && oldest !== undefined) this.#finished.delete(oldest)
    return result
  }

  /** Result of this start of the host; null: the newest. Failures: NO_RESULT. */
  result(id: string | null): Result<FinishedRun> {
    const finished = id === null ? [...this.#finished.values()].at(-1) : this.#finished.get(id)
    if (finished) return ok(finished)
    return fail({
      code: 'NO_RESULT',
      what: 'There is no such result',
      why: `the last ${RESULTS_MAX} are kept, until the console ends`,
      next: 'Run it again: the same seeds give the same result.',
    })
  }

  /** Newest result of which a variant was staged. Failures: NO_RESULT. */
  stagedResult(): Result<FinishedRun> {
    const staged = [...this.#finished.values()].filter((f) => f.staged !== undefined)
    const newest = staged.toSorted((x, y) => (y.staged?.atMs ?? 0) - (x.staged?.atMs ?? 0))[0]
    return newest ? ok(newest) : fail(NONE_STAGED)
  }

  /** Notes that a variant of a result was staged. */
  noteStaged(id: string, staged: NonNullable<FinishedRun['staged']>): void {
    const finished = this.#finished.get(id)
    if (finished) this.#finished.set(id, { ...finished, staged })
  }

  /** Ends the active run. */
  close(): void {
    this.#running?.end()
  }
}

/** Maps events; ends with its source, even while the caller waits. */
function mapped<T, U>(events: AsyncGenerator<T, void, void>, of: (event: T) => U): AsyncGenerator<U, void, void> {
  async function* all(): AsyncGenerator<U, void, void> {
    for await (const event of events) yield of(event)
  }
  const out = all()
  const finish = out.return.bind(out)
  out.return = async (value) => {
    await events.return()
    return finish(value)
  }
  return out
}
