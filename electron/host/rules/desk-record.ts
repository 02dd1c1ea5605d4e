/**
 * Rules of ours and the undo list of one cluster in the enforcement store, so that they outlive the console and commands see them.
 * What is read is checked: the file is shared with other processes, and other releases.
 */
import * as z from 'zod'
import { changeTerms, nodeEnd, ruleForm, service, type NodeEnd } from '#core/api/rule-edits.ts'
import { thisUser, type EnforcementStore } from '../../enforce/store.ts'
import type { DeskChange, DeskPlan } from './desk-plan.ts'
import type { OperatorRule, OperatorRules, RulePlace, RuleSink } from './operator-rules.ts'
import type { PastChange } from './past-change.ts'
import type { PendingUndo, PendingUndos } from './pending-undo.ts'

/** Changes that are shown. */
const SHOWN = 20

const queue = z.enum(['reg', 'hp'])
const queues = z.enum(['reg', 'hp', 'both'])
/** A rule as a server printed it. */
export const ruleLine = z.object({
  queue,
  cpt: z.number(),
  name: z.string(),
  conditions: z.string(),
  rate: z.number(),
  ref: z.number(),
})
export const edit = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('start'),
    ...{ name: z.string(), conditions: z.string(), rate: z.number(), queue: queues },
    ...{ rank: z.string().optional(), realtime: z.boolean().optional() },
  }),
  z.object({
    verb: z.literal('change'),
    ...{ name: z.string(), queue: queues, rate: z.number().optional(), rank: z.string().optional() },
  }),
  z.object({ verb: z.literal('stop'), name: z.string(), queue: queues }),
])
const terms = changeTerms.extend({ expiresS: z.number().nullable() })
const staged = z.object({
  ...{ id: z.string(), service, edit, form: ruleForm, terms, stagedMs: z.number() },
  ...{ hosts: z.array(z.string()).optional(), undoes: z.string().optional() },
  ...{ tries: z.number().default(0), doneOn: z.array(z.string()).default([]) },
})
const choice = z.object({ name: z.string(), arg: z.string() })
/** What a server had before a change of its policy. */
const policyBefore = z.object({
  policies: z.array(z.object({ queue, policy: choice })),
  rules: z.array(ruleLine),
  realtime: z.array(z.tuple([z.string(), z.boolean()])).transform((pairs) => new Map(pairs)),
  timed: z.array(z.object({ queue, name: z.string() })),
})

/** A change as it is kept; what older makers did not keep has a default. */
const changeDocument = z.object({
  ...{ service, title: z.string(), reason: z.string(), nodes: z.array(nodeEnd) },
  expiresMs: z.number().nullable(),
  done: z.array(
    z.tuple([
      z.string(),
      z.object({
        edits: z.array(edit),
        expiries: z.array(z.object({ queue, name: z.string(), atMs: z.number() })),
      }),
    ]),
  ),
  inverse: z.array(z.string()).default([]),
  policy: z.array(z.tuple([z.string(), policyBefore])).optional(),
  pending: z
    .array(
      z.object({ host: z.string(), changeId: z.string(), undoes: z.string(), edits: z.array(staged), why: z.string() }),
    )
    .default([]),
})

/** A change as it was kept; undefined for one of another form. */
export function pastOf(id: string, atMs: number, state: string, document: unknown): PastChange | undefined {
  const d = changeDocument.safeParse(document).data
  if (!d) return undefined
  const { service: on, title, reason, nodes, expiresMs, inverse, policy } = d
  return {
    ...{ id, atMs, service: on, title, reason, nodes, expiresMs, inverse },
    done: new Map(d.done),
    unsure: new Map<string, DeskChange>(),
    stagedIds: [],
    ...(policy && { policy: new Map(policy) }),
    undone: state === 'undone',
  }
}

/** A change as it is kept. @param planId  the plan that it carried out; empty where that is not kept. */
export function changeDocumentOf(past: PastChange, planId: string, waiting: readonly PendingUndo[] = []): object {
  const { service: on, title, reason, nodes, expiresMs, inverse, done, policy } = past
  return {
    service: on,
    title,
    reason,
    planId,
    nodes,
    expiresMs,
    inverse,
    done: [...done],
    ...(policy && { policy: [...policy].map(([host, b]) => [host, { ...b, realtime: [...b.realtime] }]) }),
    pending: waiting.map(({ host, changeId, undoes, edits, why }) => ({ host, changeId, undoes, edits, why })),
  }
}

const stateOf = ({ undone, nodes }: PastChange): string => {
  if (undone) return 'undone'
  const states = nodes.map((n) => n.state)
  if (states.includes('unknown')) return 'unknown'
  if (states.every((s) => s === 'done' || s === 'pending')) return 'done'
  return states.includes('done') ? 'partial' : 'not done'
}

export class DeskRecord implements RuleSink {
  readonly #store: EnforcementStore
  readonly #cluster: string
  /** The change that rules are being started by. */
  #change = ''

  constructor(store: EnforcementStore, cluster: string) {
    this.#store = store
    this.#cluster = cluster
  }

  keepRule(place: RulePlace, { reason, createdMs, realtime, timer }: OperatorRule): void {
    const unit = timer?.stop === undefined ? (timer?.unit ?? '') : ''
    const head = { cluster: this.#cluster, ...place, change: this.#change, owner: thisUser(), ticket: '' }
    this.#store.rules.keep({ ...head, reason, createdMs, unit, expiresMs: timer?.expiresMs ?? null, realtime })
  }

  forgetRule(place: RulePlace): void {
    this.#store.rules.forget({ cluster: this.#cluster, ...place })
  }

  /** Takes over rules that are kept and not known. */
  refresh(rules: OperatorRules): void {
    for (const { service: on, host, queue: q, name, ...r } of this.#store.rules.of(this.#cluster)) {
      const place = { service: on, host, queue: q, name }
      const timer = r.unit === '' || r.expiresMs === null ? undefined : { unit: r.unit, expiresMs: r.expiresMs }
      const known = rules.find(place)
      if (known && known.createdMs >= r.createdMs) continue
      rules.take(place, { reason: r.reason, createdMs: r.createdMs, realtime: r.realtime, timer })
    }
  }

  /** The undo list as it was left; what still waited for servers goes on waiting. */
  load(pending: PendingUndos): PastChange[] {
    return this.#store.changes.of(this.#cluster, SHOWN).flatMap(({ id, atMs, state, document }) => {
      const past = pastOf(id, atMs, state, document)
      const waiting = changeDocument.safeParse(document).data?.pending ?? []
      for (const p of waiting) {
        const edits = p.edits.map((e) => ({ ...e, hosts: e.hosts, undoes: e.undoes }))
        if (past) pending.put({ ...p, service: past.service, edits })
      }
      return past ?? []
    })
  }

  /** Changes of other processes. @param known  ids of those that are shown already. */
  others(known: ReadonlySet<string>): PastChange[] {
    return this.#store.changes.of(this.#cluster, SHOWN).flatMap(({ id, atMs, state, document }) => {
      return known.has(id) ? [] : (pastOf(id, atMs, state, document) ?? [])
    })
  }

  keep(past: PastChange, pending: PendingUndos): void {
    const { id, atMs } = past
    const waiting = pending.all.filter((p) => p.changeId === id)
    const document = changeDocumentOf(past, '', waiting)
    this.#store.changes.keep({ id, cluster: this.#cluster, atMs, state: stateOf(past), document })
  }

  /** Notes rules before they are started: one that is noted and not there does no harm. @throws when that is not possible. */
  before({ changes }: DeskPlan, atMs: number): void {
    for (const { terms: all, timers, keeps } of changes) {
      for (const { place, start } of all) {
        if (start?.edit.verb !== 'start') continue
        const timer = timers.find((t) => t.rule === place.name)
        this.keepRule(place, {
          reason: start.terms.reason,
          createdMs: atMs,
          realtime: start.edit.realtime ?? false,
          timer: timer && keeps !== 'none' ? { unit: timer.unit, expiresMs: atMs + timer.seconds * 1000 } : undefined,
        })
      }
    }
  }

  /** Takes back what was noted of rules that were not started after all. */
  after({ changes }: DeskPlan, nodes: readonly NodeEnd[], rules: OperatorRules): void {
    for (const { plan, terms: all } of changes) {
      const state = nodes.find((n) => n.host === plan.server)?.state ?? 'not sent'
      if (state !== 'not sent' && state !== 'rolled back') continue
      for (const { place, start } of all) {
        const was = rules.find(place)
        if (!start) continue
        if (was) this.keepRule(place, was)
        else this.forgetRule(place)
      }
    }
  }
}
