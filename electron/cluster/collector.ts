/**
 * Reads one OSS or MDS: a single `lctl get_param` a sample, parsed into typed records. What cannot be parsed is counted and
 * skipped; what cannot be read is said.
 */
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { JobDeltas, type JobDelta } from '#core/lustre/job-deltas.ts'
import { JobStatsReader } from '#core/lustre/job-stats-reader.ts'
import type { JobEntry } from '#core/lustre/job-stats.ts'
import { parseNrsPolicies, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { parseVersion, type LustreVersion } from '#core/lustre/version.ts'
import type { NodeConnection } from './connection.ts'
import { within } from './deadline.ts'
import { detach, toBytes } from './detach.ts'
import { type Service, servicesOf } from './service.ts'

/** A node is waited for this long, wall ms. */
const LATE_MS = 10_000

const READ_VERSION = 'lctl get_param -n version'

export interface TargetReading {
  readonly target: string
  readonly entries: readonly JobEntry[]
  /** Text that the entries' spans point into. */
  readonly text: string
  /** Since the reading before; undefined on the first. */
  readonly deltas: readonly JobDelta[] | undefined
}

/** What schedules one service, and its rules. */
export interface ServiceReading {
  readonly service: Service
  readonly policies: readonly PolicyStatus[]
  readonly rules: readonly RuleLine[]
  /** The value of nrs_tbf_rule as answered; empty when TBF does not run. */
  readonly rulesText: string
}

export interface NodeReading extends ServiceReading {
  readonly host: string
  /** The other services of the server. */
  readonly others: readonly ServiceReading[]
  /** As the server named it on the first reading after it began to answer; undefined where it could not be read. */
  readonly version: LustreVersion | undefined
  readonly targets: readonly TargetReading[]
  /** Lines that no parser could read. */
  readonly skipped: number
  readonly bytes: number
  /** Time from sending the command to its last byte, ms. */
  readonly tookMs: number
  /** Time of reading what it answered, ms. */
  readonly parseMs: number
}

/** One service out of the values of an answer. */
function readService(
  service: Service,
  values: ReadonlyMap<string, string>,
): { readonly reading: ServiceReading; readonly skipped: number } {
  const policies = parseNrsPolicies(values.get(service.policies) ?? '')
  const rulesText = detach(values.get(service.rules) ?? '')
  const rules = parseNrsTbfRule(rulesText)
  return {
    reading: { service, policies: policies.policies, rules: rules.rules, rulesText },
    skipped: policies.skipped.length + rules.skipped.length,
  }
}

/** What was read of one service of a server; undefined where the server does not have it. */
export const serviceReading = (reading: NodeReading, service: Service): ServiceReading | undefined =>
  [reading, ...reading.others].find((r) => r.service === service)

export type Reading =
  { readonly ok: true; readonly reading: NodeReading } | { readonly ok: false; readonly reason: string }

export class NodeCollector {
  readonly #node: NodeConnection
  readonly #service: Service
  readonly #others: readonly Service[]
  readonly #command: string
  #version: LustreVersion | undefined
  /** A reading that is not waited for any more. */
  #pending: Promise<unknown> | undefined
  readonly #readers = new Map<string, JobStatsReader>()
  readonly #deltas = new Map<string, JobDeltas>()

  constructor(node: NodeConnection, service: Service) {
    this.#node = node
    this.#service = service
    this.#others = servicesOf(service.role).filter((s) => s !== service)
    const parameters = [service, ...this.#others].flatMap((s) => [s.policies, s.rules])
    this.#command = getParamCommand(service.jobStats, ...parameters)
  }

  get host(): string {
    return this.#node.host
  }

  /**
   * Takes one reading; a node that does not answer, or has no targets, is a reason, not an exception. One that takes long is
   * not waited for, and not asked again before it answers: it must not hold up the others.
   */
  async read(): Promise<Reading> {
    if (this.#pending) return { ok: false, reason: 'an earlier reading is not answered' }
    const reading = this.#read()
    try {
      return await within(reading, LATE_MS)
    } catch (e) {
      this.#pending = reading.finally(() => {
        this.#pending = undefined
        // What it read is old by now.
        this.forgetBase()
      })
      this.#pending.catch(() => undefined)
      return { ok: false, reason: e instanceof Error ? e.message : 'the node did not answer' }
    }
  }

  async #read(): Promise<Reading> {
    const begin = performance.now()
    let result
    try {
      this.#version ??= parseVersion((await this.#node.exec(READ_VERSION)).stdout)
      result = await this.#node.exec(this.#command)
    } catch (e) {
      return { ok: false, reason: e instanceof Error ? e.message : 'the node did not answer' }
    }
    const answered = performance.now()
    const tookMs = answered - begin
    const values = splitParams(result.stdout)
    let skipped = 0
    const targets: TargetReading[] = []
    for (const [name, text] of values) {
      const target = this.#service.target.exec(name)?.[1]
      if (target === undefined) continue
      let reader = this.#readers.get(target)
      if (!reader) this.#readers.set(target, (reader = new JobStatsReader(toBytes)))
      const stats = reader.read(text)
      skipped += stats.skipped.length + stats.skippedMore
      let deltas = this.#deltas.get(target)
      if (!deltas) this.#deltas.set(target, (deltas = new JobDeltas()))
      targets.push({ target, entries: stats.entries, text, deltas: deltas.update(stats.entries) })
    }
    if (targets.length === 0) {
      const why = result.stderr.trim().split('\n')[0] ?? ''
      return { ok: false, reason: why === '' ? `lctl ended with ${result.code} and named no target` : why }
    }
    // A target that is gone (unmounted, failed over) begins anew when it returns.
    const here = new Set(targets.map((t) => t.target))
    for (const [target, d] of this.#deltas) if (!here.has(target)) d.reset()
    const first = readService(this.#service, values)
    const others = this.#others.map((s) => readService(s, values))
    return {
      ok: true,
      reading: {
        ...first.reading,
        host: this.host,
        others: others.map((o) => o.reading),
        version: this.#version,
        targets,
        skipped: [first, ...others].reduce((n, s) => n + s.skipped, skipped),
        bytes: result.stdout.length + result.stderr.length,
        tookMs,
        parseMs: performance.now() - answered,
      },
    }
  }

  /** After a gap the next reading is a base again: a rate across the gap would be an invention. The server may be another. */
  forgetBase(): void {
    this.#version = undefined
    for (const d of this.#deltas.values()) d.reset()
  }
}
