/**
 * Token audit of a running node, period by period: I1 to I3 of spec/haechi 2 over what its monitor and its clients count on their
 * own. A period is judged once its clients have closed it.
 *
 * FAAs are counted by the clients that posted them, tokens taken from the pool by the monitor alone. A client killed between its FAA
 * and its count leaves at most one batch that no client counts.
 */
import type { MonitorPeriod } from '#core/haechi/monitor-events.ts'
import type { ConversionRule } from '#core/controllers/settings.ts'
import type { LastCounts, NodeCounters, PeriodLog } from './backend.ts'

export interface JudgedPeriod {
  readonly period: MonitorPeriod
  /** By client. */
  readonly logs: ReadonlyMap<number, PeriodLog>
  /** Tokens that left the pool and that no client counts. */
  readonly unowned: number
  /** Tokens that killed clients held. */
  readonly lost: number
  readonly violations: readonly string[]
}

export interface AuditOptions {
  readonly batch: number
  readonly window: number
  readonly conversion: ConversionRule
}

export class TokenAudit {
  readonly #options: AuditOptions
  readonly #logs = new Map<number, Map<number, PeriodLog>>()
  readonly #killed = new Map<number, LastCounts[]>()
  readonly #silent = new Set<number>()
  #counters: NodeCounters | undefined
  #pending: { readonly period: MonitorPeriod; readonly counters: NodeCounters } | undefined

  constructor(options: AuditOptions) {
    this.#options = options
  }

  /** Adds a client's account. @returns the period that it completes. */
  log(log: PeriodLog): JudgedPeriod[] {
    let of = this.#logs.get(log.epoch)
    if (!of) this.#logs.set(log.epoch, (of = new Map<number, PeriodLog>()))
    of.set(log.client, log)
    return this.#isComplete() ? this.end() : []
  }

  /** @param epoch  period in which the process ended. */
  killed(epoch: number, last: LastCounts): void {
    const of = this.#killed.get(epoch)
    if (of) of.push(last)
    else this.#killed.set(epoch, [last])
  }

  /** A client was taken for silent: its use is unknown (A20). */
  silent(client: number): void {
    this.#silent.add(client)
  }

  /** Adds a period that is over. @returns it, if its clients have closed it, and the one before it in any case. */
  period(period: MonitorPeriod, counters: NodeCounters): JudgedPeriod[] {
    const judged = this.end()
    this.#pending = { period, counters }
    return this.#isComplete() ? [...judged, ...this.end()] : judged
  }

  /** Judges the pending period. */
  end(): JudgedPeriod[] {
    const pending = this.#pending
    this.#pending = undefined
    return pending ? [this.#judge(pending.period, pending.counters)] : []
  }

  #isComplete(): boolean {
    const period = this.#pending?.period
    if (!period) return false
    const logs = this.#logs.get(period.epoch)
    return period.clients.every((c) => logs?.has(c.client) === true)
  }

  #judge(period: MonitorPeriod, counters: NodeCounters): JudgedPeriod {
    const { epoch, omega, reserved, claimed } = period
    const { batch, conversion } = this.#options
    const logs = this.#logs.get(epoch) ?? new Map<number, PeriodLog>()
    // A process may have ended around the border of two periods.
    const killed = [...(this.#killed.get(epoch) ?? []), ...(this.#killed.get(epoch + 1) ?? [])].filter(
      (k) => !logs.has(k.client),
    )
    const violations = [...logs.values()].flatMap((l) => faultsOf(l))
    let granted = 0
    let back = 0
    let slack = 0
    for (const l of logs.values()) granted += l.granted
    for (const k of killed) if (k.grantEpoch === epoch) granted += k.grantedInEpoch
    if (granted > claimed || granted + batch * killed.length < claimed)
      violations.push(`period ${epoch}: FAAs were granted ${granted} tokens, the pool lost ${claimed}`)
    for (const { client, reservation, yielded } of period.clients) {
      const log = logs.get(client)
      back += log?.yielded ?? yielded
      if (this.#silent.has(client)) slack += reservation
      else if (log !== undefined && yielded > log.yielded)
        violations.push(`period ${epoch}: client ${client} yielded ${log.yielded}, the monitor believes ${yielded}`)
    }
    const bound = Math.max(omega, reserved) + slack
    const handedOut = reserved - back + claimed
    if (conversion === 'ledger' && handedOut > bound)
      violations.push(`period ${epoch}: ${handedOut} tokens handed out of ${bound}`)
    violations.push(...this.#nodeFaults(epoch, counters))
    for (const kept of [this.#logs, this.#killed]) for (const e of kept.keys()) if (e <= epoch) kept.delete(e)
    const lost = killed.reduce((sum, k) => sum + (k.epoch === epoch ? k.xi + k.g : 0), 0)
    return { period, logs, unowned: Math.max(0, claimed - granted), lost, violations }
  }

  #nodeFaults(epoch: number, now: NodeCounters): string[] {
    const before = this.#counters
    this.#counters = now
    const found: string[] = []
    const grown = (of: 'overfull' | 'dataWakes' | 'droppedLines'): number => now[of] - (before?.[of] ?? 0)
    if (grown('overfull') > 0)
      found.push(`period ${epoch}: ${grown('overfull')} conversions left more tokens than fit into the period`)
    if (grown('dataWakes') > 0)
      found.push(`period ${epoch}: ${grown('dataWakes')} wake-ups of the data node without a cause of its own`)
    if (grown('droppedLines') > 0)
      found.push(`period ${epoch}: ${grown('droppedLines')} lines of the monitor were lost`)
    return found
  }
}

/** Each token of an engine is used, yielded, void or held, and each copied record used one (I3). */
function faultsOf({ client, epoch, totals: t, limit, issued, xi, g, inflight, copied }: PeriodLog): string[] {
  const found: string[] = []
  const check = (claim: string, a: number, b: number): void => {
    if (a !== b) found.push(`client ${client}, period ${epoch}: ${claim}: ${a} != ${b}`)
  }
  const used = t.usedReservation + t.usedGlobal
  check('pushed tokens', t.pushed, t.usedReservation + t.yielded + t.voidedReservation + xi)
  check('claimed tokens', t.claimed, t.usedGlobal + t.voidedGlobal + g)
  check('posted I/Os', used, t.completed + inflight)
  check('copied records', copied, t.completed)
  if (limit !== null && issued > limit) found.push(`client ${client}, period ${epoch}: ${issued} I/Os over ${limit}`)
  return found
}
