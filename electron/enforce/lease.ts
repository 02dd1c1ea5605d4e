/**
 * The lease of a controller on one server: a timer there that stops our rules unless it is renewed, so that a closed
 * laptop never leaves a job throttled (DESIGN.md 3).
 *
 * The new timer is made before the old one is taken away, and before the first rule it covers. It names only our rules;
 * stopping one that is gone is success on a server.
 */
import { setParamCommand, shellQuote } from '#core/lustre/lctl.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { TBF_RULE } from '../cluster/collector.ts'
import type { NodeConnection } from '../cluster/connection.ts'

export const LEASE_SECONDS = 60
/** Renewed when less than this is left. */
const RENEW_NS = 30 * NS_PER_S

export interface LeaseState {
  readonly unit: string
  readonly rules: number
  readonly createdNs: number
  readonly expiresNs: number
}

export class Lease {
  readonly #node: NodeConnection
  readonly #session: string
  #number = 0
  #state: LeaseState | undefined
  readonly #names = new Set<string>()

  /** @param session  tells the timers of one start of Sluice from those of another. */
  constructor(node: NodeConnection, session: string) {
    this.#node = node
    this.#session = session
  }

  get state(): LeaseState | undefined {
    return this.#state
  }

  /**
   * Makes sure that a timer covers all of `names` and has time left.
   *
   * @param nowNs  the server's clock as far as the source knows it.
   */
  async cover(names: Iterable<string>, nowNs: number): Promise<Result<LeaseState | undefined>> {
    let grown = false
    for (const n of names) {
      grown ||= !this.#names.has(n)
      this.#names.add(n)
    }
    if (this.#names.size === 0) return ok(undefined)
    if (this.#state && !grown && this.#state.expiresNs - nowNs > RENEW_NS) return ok(this.#state)
    const unit = `sluice-lease-${this.#session}-${++this.#number}`
    const script = [...this.#names].map((n) => setParamCommand(TBF_RULE, `reg stop ${n}`)).join('; ')
    const r = await this.#run(`systemd-run --on-active=${LEASE_SECONDS}s --unit=${unit} sh -c ${shellQuote(script)}`)
    if (!r.ok) return r
    await this.#stop()
    this.#state = { unit, rules: this.#names.size, createdNs: nowNs, expiresNs: nowNs + LEASE_SECONDS * NS_PER_S }
    return ok(this.#state)
  }

  /** Takes the timer away, after the rules it covered are gone. */
  async end(): Promise<void> {
    await this.#stop()
    this.#names.clear()
  }

  async #stop(): Promise<void> {
    if (this.#state) await this.#run(`systemctl stop ${this.#state.unit}.timer`)
    this.#state = undefined
  }

  async #run(command: string): Promise<Result<undefined, Failure>> {
    const r = await this.#node.exec(command).catch(() => undefined)
    if (r?.code === 0) return ok(undefined)
    return fail({
      code: 'LEASE_FAILED',
      what: `No expiry timer could be made on ${this.#node.host}, so no rule was written there`,
      why: r ? (r.stderr.trim().split('\n').at(-1) ?? '') : 'the server did not answer',
      unaffected: 'Rules that are there stay as they are; sampling goes on.',
      next: 'Check systemd-run on the server, or switch to advise.',
    })
  }
}
