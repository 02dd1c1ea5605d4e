/**
 * Sluice's rules and the undo list of one cluster in the enforcement store, so that they survive the console and
 * commands see them. Data read is validated: the file is shared with other processes, and other releases.
 */
import * as z from 'zod'
import {
  nodeEnd,
  policyChoice,
  queue,
  ruleEdit,
  ruleLine,
  service,
  stagedRecord,
  type NodeEnd,
} from '#core/api/rule-edits.ts'
import { thisUser, type EnforcementStore } from '../../enforce/store.ts'
import { isCommitting } from '../../enforce/commit-lock.ts'
import { stopValue } from '../../enforce/expiry-spec.ts'
import { isOrphan } from '../../enforce/store-leases.ts'
import type { StoredRule } from '../../enforce/store-rules.ts'
import type { RulePlan } from './rule-plan.ts'
import type { OperatorRule, OperatorRules, RulePlace, RuleSink, RuleTimer } from './operator-rules.ts'
import { endOfChange, type PastChange, type UnknownOutcome } from './past-change.ts'
import type { PendingUndo, PendingUndos } from './pending-undo.ts'
import type { StagedChange } from './staged-changes.ts'

/** Most changes shown. */
const SHOWN = 20

const expiryTimer = z.object({ unit: z.string(), rule: z.string(), value: z.string(), seconds: z.number() })
const place = z.object({ service, host: z.string(), queue, name: z.string() })
const storedRule = z.object({
  reason: z.string(),
  createdMs: z.number(),
  realtime: z.boolean(),
  timer: z.object({ unit: z.string(), expiresMs: z.number(), stop: z.string().optional() }).optional(),
})
/** Change sent to a server with an unknown outcome. */
const unknownEnd = z.object({
  server: z.string(),
  before: z.array(ruleLine),
  expected: z.array(ruleLine),
  touched: z.array(z.string()),
  realtime: z.array(z.tuple([z.string(), z.boolean()])),
  terms: z.array(z.object({ place, start: stagedRecord.optional() })),
  timers: z.array(expiryTimer),
  endTimers: z.array(z.string()),
  keeps: z.enum(['systemd', 'shell', 'helper', 'none']),
  was: z.array(z.object({ place, rule: storedRule })),
})
/** State of a server before a change of its policy. */
const policyBefore = z.object({
  policies: z.array(z.object({ queue, policy: policyChoice })),
  rules: z.array(ruleLine),
  realtime: z.array(z.tuple([z.string(), z.boolean()])).transform((pairs) => new Map(pairs)),
  timed: z.array(z.object({ queue, name: z.string() })),
})

/** Stored form of a change; fields that older versions did not store have defaults. */
const changeDocument = z.object({
  service,
  title: z.string(),
  reason: z.string(),
  nodes: z.array(nodeEnd),
  expiresMs: z.number().nullable(),
  done: z.array(
    z.tuple([
      z.string(),
      z.object({
        edits: z.array(ruleEdit),
        expiries: z.array(z.object({ queue, name: z.string(), atMs: z.number() })),
      }),
    ]),
  ),
  inverse: z.array(z.string()).default([]),
  policy: z.array(z.tuple([z.string(), policyBefore])).optional(),
  pending: z
    .array(
      z.object({
        host: z.string(),
        changeId: z.string(),
        undoes: z.string(),
        edits: z.array(stagedRecord),
        why: z.string(),
      }),
    )
    .default([]),
  unknown: z.array(unknownEnd).default([]),
  spareTimers: z.array(z.tuple([z.string(), z.array(z.string())])).default([]),
})

type ChangeDocument = z.infer<typeof changeDocument>
type StoredStart = z.infer<typeof stagedRecord>
type StoredEnd = z.infer<typeof unknownEnd>

const startOf = (s: StoredStart): StagedChange => ({ ...s, hosts: s.hosts, undoes: s.undoes })

function unknownEndOf({ server, before, expected, touched, realtime, terms, was, ...rest }: StoredEnd): UnknownOutcome {
  return {
    ...rest,
    plan: { server, before, expected, touched },
    found: { realtime: new Map(realtime) },
    terms: terms.map((t) => ({ place: t.place, start: t.start && startOf(t.start) })),
    was: was.map(({ place: on, rule }) => ({ place: on, rule: { ...rule, timer: rule.timer } })),
  }
}

const storedEndOf = ({ plan, found, terms, timers, endTimers, keeps, was }: UnknownOutcome): StoredEnd => ({
  server: plan.server,
  before: [...plan.before],
  expected: [...plan.expected],
  touched: [...plan.touched],
  realtime: [...(found.realtime ?? [])],
  terms: terms.map(({ place: on, start }) => ({ place: on, start: start && (start as StoredStart) })),
  timers: [...timers],
  endTimers: [...endTimers],
  keeps,
  was: was.map(({ place: on, rule }) => ({ place: on, rule: { ...rule, timer: rule.timer } })),
})

/** Change from its stored form; undefined if the form is not valid. */
export function pastOf(id: string, atMs: number, state: string, document: unknown): PastChange | undefined {
  const d = changeDocument.safeParse(document).data
  if (!d) return undefined
  const { service: on, title, reason, nodes, expiresMs, inverse, policy, unknown, spareTimers } = d
  return {
    id,
    atMs,
    service: on,
    title,
    reason,
    nodes,
    expiresMs,
    inverse,
    done: new Map(d.done),
    unsure: new Map(unknown.map((u) => [u.server, unknownEndOf(u)])),
    spareTimers: new Map(spareTimers),
    stagedIds: [],
    ...(policy && { policy: new Map(policy) }),
    undone: state === 'undone',
  }
}

/** Stored form of a change. @param planId  the plan that it carried out; empty if that is not stored. */
export function changeDocumentOf(past: PastChange, planId: string, waiting: readonly PendingUndo[] = []): object {
  const { service: on, title, reason, nodes, expiresMs, inverse, done, policy, unsure, spareTimers } = past
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
    unknown: [...unsure.values()].map(storedEndOf),
    spareTimers: [...spareTimers],
    pending: waiting.map(({ host, changeId, undoes, edits, why }) => ({ host, changeId, undoes, edits, why })),
  }
}

const stateOf = ({ undone, nodes }: PastChange): string => (undone ? 'undone' : endOfChange(nodes))

/** State of a change whose document could not be read. */
const DAMAGED = 'damaged'
/** State of a change that is being sent; it remains if the process ends meanwhile. */
export const SENDING = 'sending'
/** Outcome of a server whose process ended while sending. */
export const CUT_SHORT = 'the console ended while this was being sent'

/** Stored form of a timer: if the server has none, the console stops the rule, but only while that console runs. */
function timerOf(
  { service: on, host, queue: q, name, unit, expiresMs, by }: StoredRule,
  nowMs: number,
): RuleTimer | undefined {
  if (expiresMs === null) return undefined
  if (unit !== '') return { unit, expiresMs }
  if (!isOrphan({ ...by, expiresMs: Infinity }, nowMs)) return undefined
  return { unit: `${on}/${host}/${q}/${name}`, expiresMs, stop: stopValue({ queue: q, name }) }
}

export class ChangeRecord implements RuleSink {
  readonly #store: EnforcementStore
  readonly #cluster: string
  readonly #damaged: string[] = []
  /** Change that starts the rules being stored. */
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

  /** Loads stored rules that are not known here, and those that an ended process was to stop. */
  refresh(rules: OperatorRules): void {
    const now = Date.now()
    for (const stored of this.#store.rules.of(this.#cluster)) {
      const { service: on, host, queue: q, name, reason, createdMs, realtime } = stored
      const at = { service: on, host, queue: q, name }
      const timer = timerOf(stored, now)
      const known = rules.find(at)
      const isAdopted = timer?.stop !== undefined && known?.timer === undefined
      if (known && known.createdMs >= createdMs && !isAdopted) continue
      if (timer?.stop === undefined) rules.take(at, { reason, createdMs, realtime, timer })
      // Stored under this process, so that others know that it will stop the rule.
      else rules.keep(at, { reason, createdMs, realtime, timer })
    }
  }

  /** Loads the undo list; undos that waited for servers are queued again. */
  load(pending: PendingUndos): PastChange[] {
    return this.#read(new Set(), (past, document) => {
      for (const p of document.pending) {
        pending.put({ ...p, service: past.service, edits: p.edits.map(startOf) })
      }
    })
  }

  /** Changes of other processes. @param known  ids of those already shown. */
  otherChanges(known: ReadonlySet<string>): PastChange[] {
    return this.#read(known, () => undefined)
  }

  /** Changes that could not be read since the last call; they stay stored. */
  takeDamaged(): readonly string[] {
    return this.#damaged.splice(0)
  }

  #read(known: ReadonlySet<string>, each: (past: PastChange, document: ChangeDocument) => void): PastChange[] {
    const isSending = isCommitting(this.#store, this.#cluster)
    return this.#store.changes.of(this.#cluster, SHOWN).flatMap(({ id, atMs, state, document }) => {
      if (known.has(id) || state === DAMAGED || (state === SENDING && isSending)) return []
      const read = changeDocument.safeParse(document).data
      const past = pastOf(id, atMs, state, document)
      if (!read || !past) {
        this.#damaged.push(id)
        // Marked as reported, and otherwise unchanged.
        try {
          this.#store.changes.transition(id, state, DAMAGED)
        } catch {
          // While the disk is full it is reported at every start.
        }
        return []
      }
      each(past, read)
      return past
    })
  }

  /**
   * Records a change before anything of it is sent: outcomes that are never written are unknown. @throws if that is not
   * possible.
   */
  begin(past: PastChange): void {
    const { id, atMs } = past
    const document = changeDocumentOf(past, '')
    this.#store.changes.keep({ id, cluster: this.#cluster, atMs, state: SENDING, document })
  }

  keep(past: PastChange, pending: PendingUndos): void {
    const { id, atMs } = past
    const waiting = pending.all.filter((p) => p.changeId === id)
    const document = changeDocumentOf(past, '', waiting)
    this.#store.changes.keep({ id, cluster: this.#cluster, atMs, state: stateOf(past), document })
  }

  /**
   * Stores rules before they are started: a stored rule that does not exist does no harm. @throws if that is not
   * possible.
   */
  before({ changes }: RulePlan, atMs: number): void {
    for (const { terms: all, timers, keeps } of changes) {
      for (const { place, start } of all) {
        if (start?.edit.verb !== 'start') continue
        const timer = timers.find((t) => t.rule === place.name)
        this.keepRule(place, {
          reason: start.terms.reason,
          createdMs: atMs,
          realtime: start.edit.realtime ?? false,
          timer: timer && {
            unit: timer.unit,
            expiresMs: atMs + timer.seconds * 1000,
            ...(keeps === 'none' ? { stop: timer.value } : {}),
          },
        })
      }
    }
  }

  /** Removes stored rules that were not started after all. */
  after({ changes }: RulePlan, nodes: readonly NodeEnd[], rules: OperatorRules): void {
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
