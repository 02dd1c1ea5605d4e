/**
 * PADLL's global controller over metadata servers: job_stats counters in, TBF rules out. A pure step without a clock or
 * I/O; servers are read and written elsewhere.
 *
 * Source: spec/padll 5 and 6. Deviations: a job is present while it does operations, since servers know no stages; only
 * served operations are known, not requested ones, so nothing here depends on demand.
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

/** Idle time after which a job holds no share. */
export const IDLE_NS = 10 * NS_PER_S

export interface MetadataObservation {
  readonly servers: readonly MdsServer[]
  readonly policies: readonly PolicyInForce[]
  /** NIDs that a job sends from; undefined if unknown. */
  readonly clientsOf: (job: string) => number | undefined
  /** True for jobs that are never limited: root's and the system's. */
  readonly isExempt: (job: string) => boolean
}

/** A share with its measured rate. */
export interface MeasuredShare extends JobShare {
  /** Sum of all servers, op/s; null if one was not measured, or the job is new. */
  readonly measured: number | null
  readonly isActive: boolean
}

export interface MetadataDecision {
  readonly atNs: number
  readonly shares: readonly MeasuredShare[]
  /** All wanted rules on the observed servers; rules on servers without counts stay unchanged. */
  readonly rules: readonly CompiledRule[]
  readonly unexpressed: readonly UnexpressedLine[]
  /** Scopes in which PSFA replaces `psfa-adaptive`. */
  readonly fallbacks: readonly Scope[]
  /** Reasons for keeping the previous rates. */
  readonly failures: readonly Failure[]
  /** Jobs named by policies that started, or were not seen for `IDLE_NS`. */
  readonly joined: readonly string[]
  readonly left: readonly string[]
}

interface Counted {
  readonly jobs: ReadonlyMap<string, OpCounts>
  readonly spanS: number
}

export class MetadataController {
  #settings: ControlSettings
  /** Latest counts of each server. */
  readonly #counted = new Map<string, Counted>()
  /** Time of each job's last operation. */
  readonly #seen = new Map<string, number>()
  readonly #present = new Set<string>()
  #shares: readonly JobShare[] = []
  /** Inputs of the last cycle's rates: while they stay the same, small differences are not written. */
  #lastInputs = ''

  readonly #fences: Fences

  constructor(settings: ControlSettings, fences: Fences) {
    this.#settings = settings
    this.#fences = fences
  }

  setSettings(settings: ControlSettings): void {
    this.#settings = settings
  }

  /** True for a present job. */
  isActive(job: string): boolean {
    return this.#present.has(job)
  }

  step(nowNs: number, observation: MetadataObservation): MetadataDecision {
    const { servers, policies, clientsOf, isExempt } = observation
    this.#count(nowNs, servers)
    const named = new Set(policies.map((p) => p.job))
    const { joined, left } = this.#meet(nowNs, named)
    const news = new Set(joined)
    const isComplete = servers.every((s) => s.jobs !== undefined)
    const usage = (job: string, scope: Scope): number | null => (news.has(job) ? null : this.#usage(job, scope))
    const shared = sharesOf(policies, this.#settings, { usage, isActive: (job) => this.#present.has(job) })
    if (shared.failures.length === 0) this.#shares = shared.shares
    const inputs = JSON.stringify([policies, [...this.#settings.limits], this.#settings.algorithm])
    const isSteady = inputs === this.#lastInputs
    this.#lastInputs = inputs
    const remarks = new Remarks()
    for (const { line, text } of shared.unexpressed) remarks.add([line], text)
    const input = { servers, shares: this.#shares, clientsOf, isSteady, fences: this.#fences, isExempt }
    const rules = compileRules(input, remarks)
    const shares = this.#shares.map((s) => ({
      ...s,
      measured: isComplete ? usage(s.job, s.scope) : null,
      isActive: this.#present.has(s.job),
    }))
    const { lines: unexpressed } = remarks
    const { fallbacks, failures } = shared
    return { atNs: nowNs, shares, rules, unexpressed, fallbacks, failures, joined, left }
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

  /** Sums the rate of all servers, op/s; a server without a new measurement counts with its last. */
  #usage(job: string, scope: Scope): number {
    let sum = 0
    for (const { jobs, spanS } of this.#counted.values()) {
      const ops = jobs.get(job)
      if (ops) sum += countOfScope(ops, scope) / spanS
    }
    return sum
  }
}
