/**
 * PADLL's global controller over metadata servers: counters of job_stats in, TBF rules out. A pure step without a clock or
 * I/O; who reads the servers and writes to them is no part of it.
 *
 * Source: spec/padll 5 and 6. Deviations: jobs are there while they do operations, since servers know no stages; what a job
 * asked for is not known, only what it got, so nothing here depends on it.
 */
import type { Failure } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import type { Fences } from '../../control/fences.ts'
import type { Scope } from '../vocabulary.ts'
import { type CompiledRule, compileRules } from './compile.ts'
import { countOfScope, type OpCounts } from './operations.ts'
import { Remarks } from './remarks.ts'
import { type ControlSettings, type JobShare, type PolicyInForce, sharesOf, type UnexpressedLine } from './shares.ts'
import type { MdsServer } from './spots.ts'

/** A job that did no operation for so long holds no share any more. */
export const IDLE_NS = 10 * NS_PER_S

export interface MetadataObservation {
  readonly servers: readonly MdsServer[]
  readonly policies: readonly PolicyInForce[]
  /** NIDs that a job sends from; undefined where nobody tells. */
  readonly clientsOf: (job: string) => number | undefined
  /** Whether a job is never limited: root's and the system's. */
  readonly isExempt: (job: string) => boolean
}

/** A share with what was measured of it. */
export interface MeasuredShare extends JobShare {
  /** op/s of all servers; null where one was not measured, or the job is new. */
  readonly measured: number | null
  readonly isActive: boolean
}

export interface MetadataDecision {
  readonly atNs: number
  readonly shares: readonly MeasuredShare[]
  /** Every rule that is wanted on the servers observed; those of servers without counts as they stand. */
  readonly rules: readonly CompiledRule[]
  readonly unexpressed: readonly UnexpressedLine[]
  /** Why the rates of the cycle before were kept. */
  readonly failures: readonly Failure[]
  /** Jobs that policies name and that began, or were not seen for `IDLE_NS`. */
  readonly joined: readonly string[]
  readonly left: readonly string[]
}

interface Counted {
  readonly jobs: ReadonlyMap<string, OpCounts>
  readonly spanS: number
}

export class MetadataController {
  #settings: ControlSettings
  /** The newest counts of each server. */
  readonly #counted = new Map<string, Counted>()
  /** When each job last did an operation. */
  readonly #seen = new Map<string, number>()
  readonly #present = new Set<string>()
  #shares: readonly JobShare[] = []
  /** What the rates of the last cycle were computed for: while it stands, small differences are not written. */
  #asked = ''

  readonly #fences: Fences

  constructor(settings: ControlSettings, fences: Fences) {
    this.#settings = settings
    this.#fences = fences
  }

  setSettings(settings: ControlSettings): void {
    this.#settings = settings
  }

  /** Whether a job is there. */
  isActive(job: string): boolean {
    return this.#present.has(job)
  }

  step(nowNs: number, observation: MetadataObservation): MetadataDecision {
    const { servers, policies, clientsOf, isExempt } = observation
    this.#count(nowNs, servers)
    const named = new Set(policies.map((p) => p.job))
    const { joined, left } = this.#meet(nowNs, named)
    const news = new Set(joined)
    const isWhole = servers.every((s) => s.jobs !== undefined)
    const usage = (job: string, scope: Scope): number | null => (news.has(job) ? null : this.#usage(job, scope))
    const shared = sharesOf(policies, this.#settings, { usage, isActive: (job) => this.#present.has(job) })
    if (shared.failures.length === 0) this.#shares = shared.shares
    const asked = JSON.stringify([policies, [...this.#settings.limits], this.#settings.algorithm])
    const isSteady = asked === this.#asked
    this.#asked = asked
    const remarks = new Remarks()
    for (const { line, text } of shared.unexpressed) remarks.say([line], text)
    const input = { servers, shares: this.#shares, clientsOf, isSteady, fences: this.#fences, isExempt }
    const rules = compileRules(input, remarks)
    const shares = this.#shares.map((s) => ({
      ...s,
      measured: isWhole ? usage(s.job, s.scope) : null,
      isActive: this.#present.has(s.job),
    }))
    const { lines: unexpressed } = remarks
    return { atNs: nowNs, shares, rules, unexpressed, failures: shared.failures, joined, left }
  }

  #count(nowNs: number, servers: readonly MdsServer[]): void {
    const here = new Set(servers.map((s) => s.host))
    for (const host of this.#counted.keys()) if (!here.has(host)) this.#counted.delete(host)
    for (const { host, jobs, spanS } of servers) {
      if (!jobs) continue
      this.#counted.set(host, { jobs, spanS })
      for (const job of jobs.keys()) this.#seen.set(job, nowNs)
    }
    for (const [job, atNs] of this.#seen) if (nowNs - atNs >= IDLE_NS) this.#seen.delete(job)
  }

  #meet(nowNs: number, named: ReadonlySet<string>): { joined: string[]; left: string[] } {
    const joined = [...named].filter((job) => this.#seen.has(job) && !this.#present.has(job))
    const left = [...this.#present].filter((job) => !named.has(job) || !this.#seen.has(job))
    for (const job of left) this.#present.delete(job)
    for (const job of joined) this.#present.add(job)
    return { joined, left }
  }

  /** op/s on all servers; a server that is not measured now as it was last. */
  #usage(job: string, scope: Scope): number {
    let sum = 0
    for (const { jobs, spanS } of this.#counted.values()) {
      const ops = jobs.get(job)
      if (ops) sum += countOfScope(ops, scope) / spanS
    }
    return sum
  }
}
