/** Rules at the beginning and at the end of a range, by service. */
import { firstRulesMs } from '../../../incidents/bundle/rule-texts.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import type { DiffCell } from '#core/snapshot/notebook.ts'
import { placeOf } from '../../../base/service.ts'
import type { HistoryReader, HistoryRule } from '../../../history/reader.ts'
import { mergeRules, ruleKey, type MergedRule } from '../../views/rules/rule-rows.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { RangeMs } from './ranges.ts'

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
  const service = SERVICE_NAMES.find((s) => placeOf('', s) !== '' && place.endsWith(placeOf('', s)))
  return service ?? (dataServers.has(place) ? 'ost_io' : 'mdt')
}

function merged(rules: readonly HistoryRule[], queue: 'reg' | 'hp'): MergedRule[] {
  const places = new Map<string, HistoryRule[]>()
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
function linesOf(before: readonly HistoryRule[], after: readonly HistoryRule[]): Line[] {
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
 * Time of the first reading of rules at or after `fromMs`, Unix ms. Before the first stored sample the rules are
 * unknown, so the rules of the first reading are taken as those in force.
 */
function firstReadMs(reader: HistoryReader, fromMs: number, oldestMs: number): number {
  if (fromMs > oldestMs) return fromMs
  const read = reader.rulesBetween(oldestMs, oldestMs + FIRST_MS).map((r) => r.fromMs)
  return read.reduce((first, at) => Math.min(first, at), read.length > 0 ? Infinity : oldestMs)
}

/** One cell for each service that has, or had, rules besides `default`. */
export function diffs(standpoint: Standpoint, reader: HistoryReader, span: RangeMs): NewDiff[] {
  const extent = reader.extent()
  if (!extent) return []
  const end = Math.max(span.fromMs, Math.min(span.toMs, standpoint.newestMs))
  const first = Math.min(end, firstReadMs(reader, span.fromMs, extent.fromMs))
  const before = reader.rulesAt(firstRulesMs(reader, { fromMs: first, toMs: end }))
  const after = reader.rulesAt(end)
  const dataServers = new Set(reader.allTargets().map((t) => t.node))
  return SERVICE_NAMES.flatMap((service): NewDiff[] => {
    const of = (all: readonly HistoryRule[]): HistoryRule[] =>
      all.filter((r) => serviceOf(r.server, dataServers) === service)
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
        of: provenanceOf(standpoint, { fromMs: first, toMs: end }, 'rules'),
      },
    ]
  })
}
