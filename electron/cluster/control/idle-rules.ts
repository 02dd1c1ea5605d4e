/** Time since which each rule has had no class attached (`ref 0`): a rule that matches nothing is usually a mistake. */
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'

export class IdleRules {
  readonly #since = new Map<string, Map<string, number>>()

  /** Processes the rules of one server as read at `atMs`; a rule is idle if no CPT or queue has a class for it. */
  look(host: string, rules: readonly RuleLine[], atMs: number): void {
    const before = this.#since.get(host)
    const busy = new Set(rules.filter((r) => r.ref > 0).map((r) => r.name))
    const now = new Map<string, number>()
    for (const { name } of rules) if (!busy.has(name)) now.set(name, before?.get(name) ?? atMs)
    this.#since.set(host, now)
  }

  /** Time from which the rule has been idle on all of the servers that have it; undefined while it is bound on one. */
  since(hosts: readonly string[], name: string): number | undefined {
    const instants = hosts.map((h) => this.#since.get(h)?.get(name))
    if (instants.length === 0 || instants.some((i) => i === undefined)) return undefined
    return Math.max(...(instants as number[]))
  }
}
