/** Rules that were committed by hand in this run of the console: why they stand, and the timers that end them. */
import type { ServiceName } from '#core/api/rule-edits.ts'

export interface OperatorRule {
  readonly reason: string
  readonly createdMs: number
  /** Timer on the server that stops it; undefined for a rule without one. */
  readonly timer: { readonly unit: string; readonly expiresMs: number } | undefined
  readonly realtime: boolean
}

const keyOf = (service: ServiceName, host: string, name: string): string => `${service}\u0000${host}\u0000${name}`

export class OperatorRules {
  readonly #rules = new Map<string, OperatorRule>()

  find(service: ServiceName, host: string, name: string): OperatorRule | undefined {
    return this.#rules.get(keyOf(service, host, name))
  }

  keep(service: ServiceName, host: string, name: string, rule: OperatorRule): void {
    this.#rules.set(keyOf(service, host, name), rule)
  }

  forget(service: ServiceName, host: string, name: string): void {
    this.#rules.delete(keyOf(service, host, name))
  }

  /** Realtime flags of a server's rules as far as they were started from here: servers do not tell. */
  realtime(service: ServiceName, host: string): ReadonlyMap<string, boolean> {
    const prefix = keyOf(service, host, '')
    return new Map(
      [...this.#rules].filter(([k]) => k.startsWith(prefix)).map(([k, r]) => [k.slice(prefix.length), r.realtime]),
    )
  }
}
