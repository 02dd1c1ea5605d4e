/** Progress of the read-only checklist of one server: every command is listed before it is sent. */
import type { CheckStep } from '#core/api/clusters.ts'
import { formatReason, type Result } from '#core/base/result.ts'
import type { ExecResult } from '../../base/connection.ts'
import { plainLine } from '../../ssh/failures.ts'

export type StepId = Extract<CheckStep['id'], 'sudo' | 'lctl' | 'role' | 'policy' | 'jobs' | 'timer' | 'clock'>
export const STEP_IDS: readonly StepId[] = ['sudo', 'lctl', 'role', 'policy', 'jobs', 'timer', 'clock']

/** Details quote answers of servers; these bounds keep a card readable. */
const DETAIL = 600
const FIX = 16_000

export type Exec = (command: string) => Promise<Result<ExecResult>>

export class Checklist {
  readonly #exec: Exec
  readonly #onStep: (steps: readonly CheckStep[]) => void
  readonly #steps: CheckStep[] = STEP_IDS.map((id) => ({
    id,
    state: 'next',
    command: '',
    tookMs: null,
    detail: '',
    fix: '',
  }))
  /** Shortest duration of a command so far, ms. */
  shortestMs = Infinity

  constructor(exec: Exec, onStep: (steps: readonly CheckStep[]) => void) {
    this.#exec = exec
    this.#onStep = onStep
  }

  get steps(): readonly CheckStep[] {
    return this.#steps.map((s) => ({ ...s }))
  }

  #set(id: StepId, change: Partial<CheckStep>): void {
    const at = this.#steps.findIndex((s) => s.id === id)
    this.#steps[at] = { ...(this.#steps[at] as CheckStep), ...change }
    this.#onStep(this.steps)
  }

  /**
   * Sends one line as part of a step. A step of several has one line each in `command`. A line without an answer ends
   * the step and the list.
   *
   * @param literal  the exact text that is sent.
   */
  async runStep(id: StepId, literal: string): Promise<Result<ExecResult>> {
    const step = this.#steps.find((s) => s.id === id) as CheckStep
    this.#set(id, { state: 'now', command: step.command === '' ? literal : `${step.command}\n${literal}` })
    const began = performance.now()
    const ran = await this.#exec(literal)
    if (!ran.ok) {
      this.end(id, 'bad', plainLine(formatReason(ran.error)))
      this.skip('not reached')
    }
    const took = performance.now() - began
    this.shortestMs = Math.min(this.shortestMs, took)
    this.#set(id, { tookMs: (step.tookMs ?? 0) + took })
    return ran
  }

  end(id: StepId, state: CheckStep['state'], detail: string, fix = ''): void {
    this.#set(id, { state, detail: detail.slice(0, DETAIL), fix: fix.slice(0, FIX) })
  }

  /** Marks all steps that have not begun as skipped. */
  skip(why: string): void {
    for (const s of this.#steps) if (s.state === 'next') this.end(s.id as StepId, 'skipped', why)
  }
}

/** Message of a command for display: the last line of stderr, else of stdout, else its exit code. */
export function messageOf(r: ExecResult): string {
  const last = (text: string): string => plainLine(text.trim().split('\n').at(-1) ?? '')
  return last(r.stderr) || last(r.stdout) || `it exited with ${r.code}`
}
