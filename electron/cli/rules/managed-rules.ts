/** Rules managed by Sluice in the enforcement store: a command loads those of earlier commands and stores its own. */
import type { NodeEnd } from '#core/api/rule-edits.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { ManagedRule } from '../../enforce/store-rules.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import type { RulePlan } from '../../host/rules/rule-plan.ts'
import type { RulePlace } from '../../host/rules/operator-rules.ts'

/** Loads the managed rules into a rule service, with their expiry and timers. */
export function loadManagedRules(ruleService: RuleService, store: EnforcementStore): void {
  for (const { service, host, queue, name, ...r } of store.rules.of(ruleService.monitor.source.cluster)) {
    const { reason, createdMs, realtime, unit, expiresMs } = r
    const timer = unit === '' || expiresMs === null ? undefined : { unit, expiresMs }
    ruleService.rules.keep({ service, host, queue, name }, { reason, createdMs, realtime, timer })
  }
}

/** Stores the rules of a change before they are started, and updates them with the outcome. */
export class ChangeRecorder {
  readonly #store: EnforcementStore
  readonly #cluster: string
  readonly #owner: string
  readonly #places: readonly RulePlace[]
  /** Stored rules before the change. */
  readonly #before: ReadonlyMap<RulePlace, ManagedRule | undefined>

  constructor(store: EnforcementStore, cluster: string, owner: string, plan: RulePlan) {
    this.#store = store
    this.#cluster = cluster
    this.#owner = owner
    const terms = plan.changes.flatMap((c) =>
      c.terms.map((t) => ({ ...t, timers: c.keeps === 'none' ? [] : c.timers })),
    )
    this.#places = terms.map((t) => t.place)
    this.#before = new Map(terms.map(({ place }) => [place, store.rules.find({ cluster, ...place })]))
    for (const { place, start, timers } of terms) {
      if (!start) continue
      const { reason, expiresS } = start.terms
      const createdMs = Date.now()
      const realtime = start.edit.verb === 'start' && start.edit.realtime === true
      this.#keep(place, {
        change: '',
        reason,
        createdMs,
        realtime,
        unit: timers.find((t) => t.rule === place.name)?.unit ?? '',
        expiresMs: expiresS === null ? null : createdMs + expiresS * 1000,
      })
    }
  }

  #keep(
    place: RulePlace,
    r: Omit<ManagedRule, 'cluster' | 'host' | 'service' | 'queue' | 'name' | 'owner' | 'ticket'>,
  ): void {
    this.#store.rules.keep({ cluster: this.#cluster, ...place, owner: this.#owner, ticket: '', ...r })
  }

  /** @param nodes  outcome per server; empty if nothing was sent. */
  settle(ruleService: RuleService, change: string, nodes: readonly NodeEnd[]): void {
    for (const place of this.#places) {
      const state = nodes.find((n) => n.host === place.host)?.state ?? 'not sent'
      const now = ruleService.rules.find(place)
      if (state === 'done' && now) {
        const { reason, createdMs, realtime, timer } = now
        const unit = timer?.stop === undefined ? (timer?.unit ?? '') : ''
        const expiresMs = timer?.expiresMs ?? null
        this.#keep(place, { change, reason, createdMs, realtime, unit, expiresMs })
      } else if (state === 'done') this.#store.rules.forget({ cluster: this.#cluster, ...place })
      else if (state === 'not sent' || state === 'rolled back') this.#restore(place)
    }
  }

  #restore(place: RulePlace): void {
    const was = this.#before.get(place)
    if (was) this.#store.rules.keep(was)
    else this.#store.rules.forget({ cluster: this.#cluster, ...place })
  }
}
