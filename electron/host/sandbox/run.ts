/** Runs of the sandbox at the host: one at a time, and the results that can still be exported. */
import { randomBytes } from 'node:crypto'
import type { KnowledgeLine, OutsideInput, RunEvent, RunInput, RunResult } from '#core/api/sandbox.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import { withoutIdlePlanes, type WithoutIdle } from '#core/sandbox/idle-planes.ts'
import { ComparisonRun, type ComparisonEvent, type Cost } from '../../sandbox/comparison-run.ts'
import { variantOf } from '../../sandbox/variant-input.ts'
import { toNotice } from '../views/status.ts'
import { runKnowledge } from './run-knowledge.ts'
import { outsideInputs } from './outside-inputs.ts'
import { knowledgeOf } from './scenarios-check.ts'

/** Results that are kept for export. */
const RESULTS_KEPT = 10

const BUSY: Failure = {
  code: 'SANDBOX_BUSY',
  what: 'The run was not started',
  why: 'another one is running, here or in another window',
  unaffected: 'the one that is running',
  next: 'Wait for its end, or cancel it.',
}

/** A result, and what its scenario was forked from. */
export interface KeptRun {
  readonly result: RunResult
  /** undefined: the scenario is no fork. */
  readonly cluster: string | undefined
  /** Instant of the fork on the cluster's clock; undefined where it is none. */
  readonly forkMs: number | undefined
  /** When the run ended, wall clock. */
  readonly endedMs: number
}

export interface RunServiceParts {
  /** Ink of a job on screen, 1 to 7; 0: none. */
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
   * Starts a comparison. It ends with its result, with a notice when a run failed, or without either when `signal` aborts or
   * nobody takes more of it.
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
        ...{ colourOf: this.#parts.colourOf, signal, program: this.#parts.program },
        yields: true,
        onOver: () => {
          isOver = true
          this.#running = undefined
        },
      },
    )
    // A signal that had aborted before has ended it already.
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
      ...{ seconds, seeds, sloWaitMs, knowledge, cost: { ...cost } },
      ...{ jobs: comparison.jobs, variants: comparison.variants, verdict: comparison.verdict },
    }
    const { fork } = scenario
    const forkMs = fork && Date.parse(fork.at)
    this.#kept.set(result.id, { result, cluster: fork?.cluster, forkMs, endedMs: Date.now() })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > RESULTS_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    return result
  }

  /** A result of this start of the host; null: the newest. Failures: NO_RESULT. */
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

  /** Ends what runs. */
  close(): void {
    this.#running?.end()
  }
}

/** What is told, in other words; ends with what it is made of, also while its taker waits. */
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
