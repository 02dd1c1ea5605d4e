/** Condenses samples into few events: loans, failed plans. */
import { definitionOf } from '#core/controllers/registry.ts'
import type { ControlLoop, ServerPeriod } from './control-loop.ts'
import type { EventLog } from '../state/event-log.ts'

/** Time between two summaries of a controller, ms on the source's clock. */
const SUMMARY_MS = 60_000

export class Watch {
  readonly #events: EventLog
  #summary = { atMs: 0, lent: 0, borrowers: new Map<string, number>() }
  readonly #failed = new Map<string, string>()
  /** Failure of writing rules on a server, as last reported. */
  readonly #reported = new Map<string, string>()
  /**
   * Reason why the last period of a target was not evaluated, other than that it was not observed, which is reported
   * elsewhere.
   */
  readonly #held = new Map<string, string>()

  constructor(events: EventLog) {
    this.#events = events
  }

  look(atMs: number, periods: readonly ServerPeriod[], loop: ControlLoop): void {
    this.#loans(atMs, periods, loop)
    this.#plans(atMs, periods, loop)
    this.#holds(atMs, periods)
  }

  #holds(atMs: number, periods: readonly ServerPeriod[]): void {
    for (const { reports } of periods) {
      for (const [target, { held }] of reports) {
        const code = held && held.code !== 'NOT_OBSERVED' ? held.code : ''
        if (held && code !== '' && code !== this.#held.get(target)) {
          const text = `${held.what}: ${held.why ?? ''}; the last rates are held`
          this.#events.add({ atMs, kind: 'controller', level: 'watch', subject: 'AdapTBF', text, where: target })
        }
        this.#held.set(target, code)
      }
    }
  }

  #loans(atMs: number, periods: readonly ServerPeriod[], loop: ControlLoop): void {
    const s = this.#summary
    for (const p of periods) {
      for (const d of p.decisions) {
        for (const a of d.allocations) {
          if (a.recordDelta > 0) s.lent += a.recordDelta
          else if (a.recordDelta < 0) s.borrowers.set(a.jobId, (s.borrowers.get(a.jobId) ?? 0) - a.recordDelta)
        }
      }
    }
    if (s.atMs === 0) s.atMs = atMs
    if (atMs - s.atMs < SUMMARY_MS) return
    const [borrower, tokens] = [...s.borrowers].sort((a, b) => b[1] - a[1])[0] ?? []
    const written = loop.mode === 'enforce' ? '' : ', none written (advise)'
    if (borrower !== undefined && loop.mode !== 'observe') {
      const text = `${s.lent} tokens reallocated between jobs in 1 min${written}; largest borrower ${borrower}, ${tokens} tokens`
      const targets = periods.reduce((n, p) => n + p.decisions.length, 0)
      const where = `${targets} targets`
      this.#events.add({
        atMs,
        kind: 'controller',
        level: 'idle',
        subject: definitionOf(loop.controller).title,
        text,
        where,
      })
    }
    this.#summary = { atMs, lent: 0, borrowers: new Map() }
  }

  #plans(atMs: number, periods: readonly ServerPeriod[], loop: ControlLoop): void {
    for (const { host } of periods) {
      // Failures of plans are reported below.
      const failure = loop.failureOf(host)
      const code = failure && failure.code !== 'RULES_NOT_APPLIED' ? failure.code : ''
      if (failure && code !== '' && code !== this.#reported.get(host)) {
        const text = `${failure.what}: ${failure.why ?? ''}`
        this.#events.add({ atMs, kind: 'change', level: 'bad', subject: 'Rule', text, where: host })
      }
      this.#reported.set(host, code)
      const o = loop.outcome(host)
      const problem = o && (o.state === 'failed' || o.state === 'unknown') ? `${o.state}: ${o.detail}` : ''
      if (problem !== '' && problem !== this.#failed.get(host)) {
        this.#events.add({ atMs, kind: 'change', level: 'bad', subject: 'Rule', text: problem, where: host })
      }
      this.#failed.set(host, problem)
    }
  }
}
