/** Preview of a plan: the changed lines, and the whole list with them in place. */
import type { Queue } from '../lustre/nrs-policies.ts'
import type { Op } from './list-plan.ts'
import type { DiffLine } from './plan.ts'
import type { Item, QueueChoice } from './rule-edit.ts'

interface BeforeAfter {
  readonly from: readonly Item[]
  readonly to: readonly Item[]
  readonly ops: readonly Op[]
}

/** A diff line and its queues. */
export interface QueueDiffLine {
  readonly queue: QueueChoice
}

/** A line of a list after a plan. Removed rules and old versions stay at their old place and have no rank. */
export interface PreviewLine {
  readonly kind: '' | DiffLine['kind']
  /** Place in match order, from 1. */
  readonly rank: number | undefined
  readonly name: string
  readonly conditions: string
  readonly rate: number
}

const textOf = (i: Item): string => `${i.name} ${i.conditions} ${i.rate}${i.realtime ? ' realtime' : ''}`

/** Rules changed by the plan, and those of them with a new rate. */
function changedBy(ops: readonly Op[]): { names: Set<string>; rates: Set<string> } {
  const changes = ops.filter((o) => o.verb === 'change')
  return {
    names: new Set(changes.map((o) => o.name)),
    rates: new Set(changes.filter((o) => o.refills).map((o) => o.name)),
  }
}

function linesOf({ from, to, ops }: BeforeAfter): DiffLine[] {
  const next = new Set(to.map((i) => i.id))
  const old = new Map(from.map((i) => [i.id, i]))
  const changed = changedBy(ops)
  const out: DiffLine[] = []
  for (const i of from) if (!next.has(i.id)) out.push({ kind: 'del', text: textOf(i) })
  to.forEach((i, at) => {
    const was = old.get(i.id)
    const before = to[at + 1]
    if (!was) out.push({ kind: 'add', text: textOf(i) })
    else if (changed.rates.has(i.name)) out.push({ kind: 'del', text: textOf(was) }, { kind: 'mod', text: textOf(i) })
    else if (changed.names.has(i.name)) {
      out.push({ kind: 'mod', text: before ? `${textOf(i)}, before ${before.name}` : `${textOf(i)}, last` })
    }
  })
  return out
}

/** Changed lines of both queues; a line common to both appears once. */
export function diffOf(queues: Readonly<Record<Queue, BeforeAfter>>): (DiffLine & QueueDiffLine)[] {
  const reg = linesOf(queues.reg)
  const hp = linesOf(queues.hp)
  const isIn = (list: readonly DiffLine[], l: DiffLine): boolean =>
    list.some((x) => x.kind === l.kind && x.text === l.text)
  return [
    ...reg.map((l) => ({ ...l, queue: isIn(hp, l) ? ('both' as const) : ('reg' as const) })),
    ...hp.filter((l) => !isIn(reg, l)).map((l) => ({ ...l, queue: 'hp' as const })),
  ]
}

/** List after the plan in match order; removed and changed lines are right before their former successor. */
export function previewOf({ from, to, ops }: BeforeAfter): PreviewLine[] {
  const next = new Map(to.map((i) => [i.id, i]))
  const old = new Map(from.map((i) => [i.id, i]))
  const changed = changedBy(ops)
  const out: PreviewLine[] = []
  const removed = (i: Item): PreviewLine => ({
    kind: 'del',
    rank: undefined,
    name: i.name,
    conditions: i.conditions,
    rate: i.rate,
  })
  /** Removed rules by their next remaining successor. */
  const before = new Map<number | undefined, Item[]>()
  from.forEach((i, at) => {
    if (next.has(i.id)) return
    const heir = from.slice(at + 1).find((f) => next.has(f.id))?.id
    before.set(heir, [...(before.get(heir) ?? []), i])
  })
  to.forEach((i, at) => {
    out.push(...(before.get(i.id) ?? []).map(removed))
    const was = old.get(i.id)
    if (was && changed.rates.has(i.name)) out.push(removed(was))
    const kind = !was ? 'add' : changed.names.has(i.name) ? 'mod' : ''
    out.push({ kind, rank: at + 1, name: i.name, conditions: i.conditions, rate: i.rate })
  })
  return [...out, ...(before.get(undefined) ?? []).map(removed)]
}
