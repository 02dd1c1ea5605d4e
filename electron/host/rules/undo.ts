/**
 * Edits that revert the rules of a committed change, whatever else has changed since. Servers whose rules differed get
 * separate edits.
 */
import { isControllerRule, isHelperRule } from '#core/controllers/registry.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import { DEFAULT_RULE, headOf, QUEUES } from '#core/control/server-rules.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'

/** Effect of a change on one server. */
interface DoneOn {
  readonly before: readonly RuleLine[]
  readonly expected: readonly RuleLine[]
  readonly touched: readonly string[]
  readonly realtime: ReadonlyMap<string, boolean>
}

/** Undo of a change on one server. */
export interface RuleUndo {
  readonly edits: readonly RuleEdit[]
  /** Former expiry times of rules that the change removed, Unix ms. */
  readonly expiries: readonly { readonly queue: Queue; readonly name: string; readonly atMs: number }[]
}

/** Edit of an undo, for the servers that need it. */
export interface UndoEdit {
  readonly edit: RuleEdit
  readonly hosts: readonly string[]
  /** Seconds that a rule had left; null for a permanent one. */
  readonly expiresS: number | null
}

/** Shortest useful lifetime of a timer. */
const LEAST_S = 30

function editsOf(done: DoneOn, queue: Queue): RuleEdit[] {
  const before = headOf(done.before, queue, 0)
  const after = headOf(done.expected, queue, 0)
  const out: RuleEdit[] = []
  const isOnBoth = (r: RuleLine): boolean => [before, after].every((l) => l.some((x) => x.name === r.name))
  const order = (list: readonly RuleLine[]): string =>
    list
      .filter(isOnBoth)
      .map((r) => r.name)
      .join(' ')
  // Unchanged positions are not sent.
  const isMoved = order(before) !== order(after)
  // From the end, so that the successor of a rule exists when it is named.
  for (const [at, was] of [...before.entries()].reverse()) {
    if (!done.touched.includes(was.name) || isHelperRule(was.name)) continue
    const is = after.find((r) => r.name === was.name)
    const next = before.slice(at + 1).find((r) => !isControllerRule(r.name) && !isHelperRule(r.name))?.name
    if (is && is.conditions === was.conditions) {
      const rate = is.rate === was.rate ? undefined : was.rate
      const rank = isMoved && was.name !== DEFAULT_RULE ? next : undefined
      if (rate !== undefined || rank !== undefined) out.push({ verb: 'change', name: was.name, queue, rate, rank })
      continue
    }
    if (is) out.push({ verb: 'stop', name: was.name, queue })
    const { name, conditions, rate } = was
    out.push({ verb: 'start', name, conditions, rate, rank: next, queue, realtime: done.realtime.get(name) ?? false })
  }
  for (const r of after) {
    if (done.touched.includes(r.name) && !isHelperRule(r.name) && !before.some((b) => b.name === r.name)) {
      out.push({ verb: 'stop', name: r.name, queue })
    }
  }
  return out
}

/** Edits of both queues; equal edits of both are merged. */
export function wayBack(done: DoneOn): RuleEdit[] {
  const [reg = [], hp = []] = QUEUES.map((q) => editsOf(done, q))
  const key = (e: RuleEdit): string => JSON.stringify({ ...e, queue: '' })
  const onHp = new Set(hp.map(key))
  const onReg = new Set(reg.map(key))
  return [
    ...reg.map((e): RuleEdit => (onHp.has(key(e)) ? { ...e, queue: 'both' } : e)),
    ...hp.filter((e) => !onReg.has(key(e))),
  ]
}

/** Seconds that a rule would have left at `nowMs`; null for a permanent one, undefined if fewer than `LEAST_S`. */
function remainingOf({ expiries }: RuleUndo, edit: RuleEdit, nowMs: number): number | null | undefined {
  const ends = expiries.filter((e) => e.name === edit.name && (edit.queue === 'both' || edit.queue === e.queue))
  if (edit.verb !== 'start' || ends.length === 0) return null
  const remaining = Math.ceil((Math.min(...ends.map((e) => e.atMs)) - nowMs) / 1000)
  return remaining < LEAST_S ? undefined : remaining
}

/**
 * Edits that undo a change, in sending order.
 *
 * @param done  by server. A rule that would have expired by now is not started again.
 */
export function undoEdits(done: ReadonlyMap<string, RuleUndo>, nowMs: number): UndoEdit[] {
  const groups = new Map<string, { edits: { edit: RuleEdit; expiresS: number | null }[]; hosts: string[] }>()
  for (const [host, on] of done) {
    const edits = on.edits.flatMap((edit) => {
      const expiresS = remainingOf(on, edit, nowMs)
      return expiresS === undefined ? [] : [{ edit, expiresS }]
    })
    const key = JSON.stringify(edits)
    const group = groups.get(key)
    if (group) group.hosts.push(host)
    else groups.set(key, { edits, hosts: [host] })
  }
  return [...groups.values()].flatMap(({ edits, hosts }) => edits.map((e) => ({ ...e, hosts })))
}
