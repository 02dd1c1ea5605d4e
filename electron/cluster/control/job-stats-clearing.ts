/**
 * Clearing of job_stats after each period, as AdapTBF's prototype does (III-A, step 9). Off by default: other readers of the counters lose
 * what they had not read, and RPCs between a reading and its clearing are never counted.
 *
 * Deviation from the paper: a server is cleared right after its reading, not after its rules are written, which loses fewer RPCs.
 *
 * It runs only while rules are written, and ends by itself: when enforce is left, when a server refuses or does not answer, and when
 * other readers are found (`electron/host/sources/clear-counters.ts`).
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { Audit } from '../../base/audit.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { sendCommand } from '../../enforce/send-command.ts'
import type { NodeReading } from '../read/collector.ts'

export const CLEAR_COMMAND = setParamCommand(SERVICES.ost_io.jobStats, 'clear')

/** Deadline of one command, wall ms. */
const ANSWER_MS = 10_000
/** Time for which entries cleared by others are remembered. */
const OTHERS_NS = 600 * NS_PER_S

/** Number of entries that others cleared on a server, and when they were missing. */
export interface ClearedByOthers {
  readonly host: string
  readonly entries: number
  readonly atNs: number
}

const ended = (why: string): Failure => ({
  code: 'CLEARING_ENDED',
  what: 'Job statistics are no longer cleared after each period',
  why,
  unaffected: 'The controller continues with differences of the counters.',
})

export class JobStatsClearing {
  readonly #source: ClusterSource
  readonly #audit: Audit
  readonly #onCleared: (host: string, sentNs: number, clearedNs: number) => void
  readonly #others = new Map<string, ClearedByOthers>()
  /** Time of the last reading, and of the last clearing by this console, by server, ns. */
  readonly #readNs = new Map<string, number>()
  readonly #own = new Map<string, { readonly sentNs: number; readonly answeredNs: number }>()
  #isOn = false
  #clears = 0
  #failure: Failure | undefined

  /** @param onCleared  called after a server was cleared, with the time before and after it. */
  constructor(
    source: ClusterSource,
    audit: Audit,
    onCleared: (host: string, sentNs: number, clearedNs: number) => void,
  ) {
    this.#source = source
    this.#audit = audit
    this.#onCleared = onCleared
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** Number of times that a server was cleared since it was switched on. */
  get clears(): number {
    return this.#clears
  }

  /** Reason why it ended by itself. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Servers whose entries others cleared in the last ten minutes. */
  get others(): readonly ClearedByOthers[] {
    const nowNs = this.#source.nowNs()
    return [...this.#others.values()].filter(({ atNs }) => nowNs - atNs <= OTHERS_NS)
  }

  /** Notes entries that others cleared between two readings. */
  look({ host, targets, atNs }: NodeReading): void {
    const entries = targets.reduce((n, t) => n + t.replaced, 0)
    const own = this.#own.get(host)
    const fromNs = this.#readNs.get(host) ?? -Infinity
    this.#readNs.set(host, atNs)
    // Between two readings its own clearing hides that of others.
    if (entries === 0 || (own && fromNs <= own.answeredNs && atNs >= own.sentNs)) return
    this.#others.set(host, { host, entries, atNs })
    if (this.#isOn) this.endBecause(`another process cleared ${entries} entries on ${host}`)
  }

  /** Switches it on. Fails, and changes nothing, if that cannot be recorded. */
  begin(hosts: readonly string[]): Result<undefined> {
    if (this.#isOn) return ok(undefined)
    try {
      const text = `clear job_stats after each period on ${hosts.join(', ')}: ${CLEAR_COMMAND}`
      this.#audit.write(this.#nowMs(), this.#source.cluster, 'mode', text)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'NOT_ON_RECORD',
        what: 'Clearing could not be recorded',
        why,
        unaffected: 'Nothing is cleared.',
      })
    }
    this.#isOn = true
    this.#clears = 0
    this.#failure = undefined
    return ok(undefined)
  }

  /** Switches it off. @param why  undefined: by an operator's choice. */
  end(why?: Failure): void {
    if (!this.#isOn) return
    this.#isOn = false
    this.#failure = why
    const reason = why?.why === undefined ? '' : `: ${why.why}`
    const text = `job_stats no longer cleared after ${this.#clears} times${reason}`
    this.#audit.note(this.#nowMs(), this.#source.cluster, 'mode', text)
  }

  /** Switches it off for a reason that is shown. */
  endBecause(why: string): void {
    this.end(ended(why))
  }

  /** Clears a server after its reading. */
  async clear(node: NodeConnection): Promise<void> {
    const { host } = node
    const sentNs = this.#source.nowNs()
    this.#own.set(host, { sentNs, answeredNs: Infinity })
    const answer = await sendCommand(node, CLEAR_COMMAND, ANSWER_MS)
    const answeredNs = this.#source.nowNs()
    // A command without an answer may still act.
    if (answer.kind !== 'late') this.#own.set(host, { sentNs, answeredNs })
    if (answer.kind !== 'done') return this.endBecause(`${host}: ${answer.why}`)
    this.#clears++
    this.#onCleared(host, sentNs, answeredNs)
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}
