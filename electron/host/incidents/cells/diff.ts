/** Rules at the beginning and at the end of a range, by service. */
import { firstRulesMs } from '../../../incidents/bundle/rule-texts.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import type { DiffCell } from '#core/snapshot/notebook.ts'
import { placeOf } from '../../../base/service.ts'
import type { HistoryReader, KeptRule } from '../../../history/reader.ts'
import { mergeRules, ruleKey, type MergedRule } from '../../views/rules/rule-rows.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { StretchMs } from './ranges.ts'

export type NewDiff = Omit<DiffCell, 'id' | 'atMs'>
type Line = DiffCell['lines'][number]

const LINES = 500
/** Most unchanged rules shown. */
const SAME = 40
const CONDITIONS_MOST = 4_096
const NAME_MOST = 512
/** Rules are read within this time of the first sample. */
const FIRST_MS = 10_000

/**
 * `mds1/mdt` names its service. `mds1` alone is ost_io or, in older files, mdt: data servers are recognized by their
 * targets.
 */
function serviceOf(place: string, dataServers: ReadonlySet<string>): ServiceName {
  const own = SERVICE_NAMES.find((s) => placeOf('', s) !== '' && place.endsWith(placeOf('', s)))
  return own ?? (dataServers.has(place) ? 'ost_io' : 'mdt')
}

function merged(rules: readonly KeptRule[], queue: 'reg' | 'hp'): MergedRule[] {
  const places = new Map<string, KeptRule[]>()
  for (const r of rules) {
    const list = places.get(r.server)
    if (list) list.push(r)
    else places.set(r.server, [r])
  }
  return mergeRules(
    Array.from(places, ([host, list]) => ({ host, rules: list.sort((x, y) => x.position - y.position) })),
    queue,
  )
}

const rateOf = (rule: MergedRule | undefined): number | null =>
  rule ? Math.max(...rule.lines.map((l) => l.line.rate)) : null

/** @param before, after  rules of one service. */
function linesOf(before: readonly KeptRule[], after: readonly KeptRule[]): Line[] {
  return (['reg', 'hp'] as const).flatMap((queue) => {
    const then = new Map(merged(before, queue).map((r) => [ruleKey(r), r]))
    const now = merged(after, queue)
    // The hp queue has its own rule list, which is usually empty.
    if (queue === 'hp' && ![...then.values(), ...now].some((r) => r.name !== 'default')) return []
    const line = (kind: Line['kind'], rule: MergedRule, was: number | null, is: number | null): Line => ({
      kind,
      name: rule.name.slice(0, NAME_MOST),
      conditions: rule.conditions.slice(0, CONDITIONS_MOST),
      before: was,
      after: is,
    })
    const lines = now.map((rule) => {
      const key = ruleKey(rule)
      const was = rateOf(then.get(key))
      const is = rateOf(rule)
      then.delete(key)
      return line(was === null ? 'add' : was === is ? 'same' : 'mod', rule, was, is)
    })
    const gone = [...then.values()].map((rule) => line('del', rule, rateOf(rule), null))
    // `default` is the last to match.
    const end = lines.findIndex((l) => l.name === 'default')
    lines.splice(end < 0 ? lines.length : end, 0, ...gone)
    return lines
  })
}

/** All changes, and the first unchanged lines. */
function bounded(all: readonly Line[]): { lines: Line[]; more: number } {
  let same = 0
  const lines = all.filter((l) => l.kind !== 'same' || l.name === 'default' || same++ < SAME).slice(0, LINES)
  return { lines, more: all.length - lines.length }
}

/**
 * Before the first kept sample rules were not read, which is not the same as no rules: those of the first reading
 * applied.
 */
function firstRead(reader: HistoryReader, fromMs: number, keptMs: number): number {
  if (fromMs > keptMs) return fromMs
  const read = reader.rulesBetween(keptMs, keptMs + FIRST_MS).map((r) => r.fromMs)
  return read.reduce((first, at) => Math.min(first, at), read.length > 0 ? Infinity : keptMs)
}

/** One cell for each service that has, or had, rules besides `default`. */
export function diffs(stand: Standpoint, reader: HistoryReader, span: StretchMs): NewDiff[] {
  const kept = reader.kept()
  if (!kept) return []
  const end = Math.max(span.fromMs, Math.min(span.toMs, stand.newestMs))
  const first = Math.min(end, firstRead(reader, span.fromMs, kept.fromMs))
  const before = reader.rulesAt(firstRulesMs(reader, { fromMs: first, toMs: end }))
  const after = reader.rulesAt(end)
  const dataServers = new Set(reader.allTargets().map((t) => t.node))
  return SERVICE_NAMES.flatMap((service): NewDiff[] => {
    const of = (all: readonly KeptRule[]): KeptRule[] => all.filter((r) => serviceOf(r.server, dataServers) === service)
    const was = of(before)
    const is = of(after)
    if (![...was, ...is].some((r) => r.name !== 'default')) return []
    const servers = new Set([...was, ...is].map((r) => r.server)).size
    return [
      {
        kind: 'diff',
        title: 'Rules',
        service,
        servers,
        ...bounded(linesOf(was, is)),
        of: provenanceOf(stand, { fromMs: first, toMs: end }, 'rules'),
      },
    ]
  })
}
