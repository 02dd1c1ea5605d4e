/** Sandbox runs at the host: one at a time, and the results that can still be exported. */
import { randomBytes } from 'node:crypto'
import type { KnowledgeLine, OutsideInput, RunEvent, RunInput, RunResult } from '#core/api/sandbox.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import { withoutIdlePlanes, type WithoutIdle } from '#core/sandbox/idle-planes.ts'
import { ComparisonRun, type ComparisonEvent, type Cost } from '../../sandbox/comparison-run.ts'
import { variantOf } from '../../sandbox/variant-input.ts'
import { toNotice } from '../views/status.ts'
import { outsideInputs } from './outside-inputs.ts'
import { knowledgeOf } from './scenarios-check.ts'

/** Below this number of seeds the ends of a band are close to the observed extremes. */
const FEW_SEEDS = 10

/** Uncertainty of a run itself, in addition to that of its scenario. */
function runKnowledge(
  { rest, jobs }: Pick<Comparison, 'rest' | 'jobs'>,
  seeds: number,
  left: WithoutIdle['left'],
): KnowledgeLine[] {
  const lines: KnowledgeLine[] = []
  const number = (n: number): string => Math.round(n).toLocaleString('en-GB')
  if (rest.jobs > 0) {
    const text = `${number(rest.jobs)} jobs with the least demand are run but not listed: together ${number(rest.rpcs)} RPC/s and ${number(rest.bps / 1e6)} MB/s in the baseline.`
    lines.push({ level: 'watch', text })
  }
  if (!jobs.role.includes('hog')) {
    lines.push({
      level: 'ok',
      text: 'No job of the baseline takes more than its fair share by nodes: no hog, no victim.',
    })
  }
  if (seeds === 1) {
    lines.push({ level: 'watch', text: 'One seed: the spread is unknown.' })
  } else if (seeds < FEW_SEEDS) {
    lines.push({ level: 'watch', text: `${seeds} seeds: the ends of the bands are uncertain.` })
  }
  if (left.length > 0) {
    const names = left.map((plane) => (plane === 'locks' ? 'the ccPFS' : 'the data nodes')).join(' and ')
    const text = `Not run, because no variant changes them and they share nothing with the Lustre servers: ${names}.`
    lines.push({ level: 'ok', text })
  }
  return lines
}

/** Most results kept for export. */
const RESULTS_KEPT = 10

const BUSY: Failure = {
  code: 'SANDBOX_BUSY',
  what: 'The run was not started',
  why: 'another one is running, here or in another window',
  unaffected: 'the one that is running',
  next: 'Wait until it ends, or cancel it.',
}

/** Result, and the source of its scenario's fork. */
export interface KeptRun {
  readonly result: RunResult
  /** undefined: the scenario is not a fork. */
  readonly cluster: string | undefined
  /** Instant of the fork on the cluster's clock; undefined if it is not a fork. */
  readonly forkMs: number | undefined
  /** Wall clock time when the run ended. */
  readonly endedMs: number
}

export interface RunServiceParts {
  /** `colour` of a job on screen: 1 to 7; 0: none. */
  readonly colourOf: (jobId: string) => number
  /** Program of the threads (tests). */
  readonly program?: string | undefined
}

export class RunService {
  readonly #parts: RunServiceParts
  readonly #kept = new Map<string, KeptRun>()
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
    const { scenario: played, left } = withoutIdlePlanes(scenario, variants)
    const run: ComparisonRun = new ComparisonRun(
      { scenario: played, variants, seeds, seconds, sloWaitMs },
      {
        colourOf: this.#parts.colourOf,
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
      return { kind: 'result', result: this.#keep(scenario, ended, left, outsideInputs(played)) }
    }
    return ok(mapped(run.events(), of))
  }

  #keep(
    scenario: Scenario,
    of: { comparison: Comparison; cost: Cost } & Pick<RunResult, 'seeds' | 'seconds' | 'sloWaitMs'>,
    left: WithoutIdle['left'],
    outside: OutsideInput[],
  ): RunResult {
    const { comparison, cost, seeds, seconds, sloWaitMs } = of
    const knowledge: KnowledgeLine[] = [...runKnowledge(comparison, seeds.length, left), ...knowledgeOf(scenario)]
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
    this.#kept.set(result.id, { result, cluster: fork?.cluster, forkMs, endedMs: Date.now() })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > RESULTS_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    return result
  }

  /** Result of this start of the host; null: the newest. Failures: NO_RESULT. */
  result(id: string | null): Result<KeptRun> {
    const kept = id === null ? [...this.#kept.values()].at(-1) : this.#kept.get(id)
    if (kept) return ok(kept)
    return fail({
      code: 'NO_RESULT',
      what: 'There is no such result',
      why: `the last ${RESULTS_KEPT} are kept, until the console ends`,
      next: 'Run it again: the same seeds give the same result.',
    })
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
