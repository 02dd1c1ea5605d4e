/**
 * The lease of a controller on one server: a timer there that stops our rules unless it is renewed, so that a closed
 * laptop never leaves a job throttled.
 *
 * The new timer is made before the old one is taken away, and before the first rule it covers. It names only our rules;
 * stopping one that is gone is success on a server. Both commands change the server, so both are on record first.
 */
import { setParamCommand, shellQuote } from '#core/lustre/lctl.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { NodeConnection } from '../cluster/connection.ts'
import { SERVICES } from '../cluster/service.ts'
import type { Audit } from './audit.ts'

/** Controllers of data RPCs. */
const stopData = (name: string): string => setParamCommand(SERVICES.ost_io.rules, `reg stop ${name}`)

export const LEASE_SECONDS = 60
/** Renewed when less than this is left. */
const RENEW_NS = 30 * NS_PER_S
/** A server that refused a timer is asked again after this. */
const RETRY_NS = NS_PER_S

export interface LeaseState {
  readonly unit: string
  readonly rules: number
  readonly createdNs: number
  readonly expiresNs: number
}

export class Lease {
  readonly #node: NodeConnection
  readonly #session: string
  readonly #audit: Audit
  readonly #stop: (name: string) => string
  #number = 0
  #state: LeaseState | undefined
  /** Rules that the present timer stops. */
  #covered: ReadonlySet<string> = new Set()
  #refused: { readonly untilNs: number; readonly failure: Failure } | undefined

  /**
   * @param session  tells the timers of one start of Sluice, and of one loop, from those of another.
   * @param stop     the command that stops a rule of those that are covered.
   */
  constructor(node: NodeConnection, session: string, audit: Audit, stop = stopData) {
    this.#node = node
    this.#session = session
    this.#audit = audit
    this.#stop = stop
  }

  get state(): LeaseState | undefined {
    return this.#state
  }

  /**
   * Makes sure that a timer covers all of `names` and has time left.
   *
   * @param names  every rule of ours that is on the server or about to be.
   * @param nowNs  the server's clock as far as the source knows it.
   * @param nowMs  the same instant for the audit, Unix ms.
   * @throws       when the audit cannot be written; nothing was sent then.
   */
  async cover(names: Iterable<string>, nowNs: number, nowMs: number): Promise<Result<LeaseState | undefined>> {
    const wanted = new Set(names)
    if (this.#state && this.#state.expiresNs <= nowNs) this.#forget() // it has fired
    if (wanted.size === 0) return ok(this.#state)
    const isCovered = [...wanted].every((n) => this.#covered.has(n))
    if (this.#state && isCovered && this.#state.expiresNs - nowNs > RENEW_NS) return ok(this.#state)
    if (this.#refused && nowNs < this.#refused.untilNs) return fail(this.#refused.failure)
    const unit = `sluice-lease-${this.#session}-${++this.#number}`
    const script = [...wanted].map(this.#stop).join('; ')
    const r = await this.#run(
      `systemd-run --on-active=${LEASE_SECONDS}s --unit=${unit} sh -c ${shellQuote(script)}`,
      nowMs,
    )
    this.#refused = r.ok ? undefined : { untilNs: nowNs + RETRY_NS, failure: r.error }
    if (!r.ok) return r
    const old = this.#state
    this.#covered = wanted
    this.#state = { unit, rules: wanted.size, createdNs: nowNs, expiresNs: nowNs + LEASE_SECONDS * NS_PER_S }
    if (old) await this.#run(`systemctl stop ${old.unit}.timer`, nowMs)
    return ok(this.#state)
  }

  /** Takes the timer away, after the rules it covered are gone. @throws when the audit cannot be written. */
  async end(nowMs: number): Promise<void> {
    if (this.#state) await this.#run(`systemctl stop ${this.#state.unit}.timer`, nowMs)
    this.#forget()
  }

  #forget(): void {
    this.#state = undefined
    this.#covered = new Set()
  }

  async #run(command: string, nowMs: number): Promise<Result<undefined, Failure>> {
    this.#audit.write(nowMs, this.#node.host, 'intent', command)
    const r = await this.#node.exec(command).catch(() => undefined)
    const why = r ? (r.stderr.trim().split('\n').at(-1) ?? '') : 'the server did not answer'
    this.#audit.write(nowMs, this.#node.host, 'outcome', r?.code === 0 ? 'done' : `failed: ${why}`)
    if (r?.code === 0) return ok(undefined)
    return fail({
      code: 'LEASE_FAILED',
      what: `No expiry timer could be made on ${this.#node.host}, so no rule was written there`,
      why,
      unaffected: 'Rules that are there stay as they are; sampling goes on.',
      next: 'Check systemd-run on the server, or switch to advise.',
    })
  }
}
