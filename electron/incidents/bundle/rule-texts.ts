/**
 * Rules of all servers at an instant as `lctl get_param` prints them, and the changes between two instants. The use
 * count of a rule (`ref`) is not kept, so lines end before it.
 */
import { byCodeUnit } from '#core/base/order.ts'
import { SERVICES } from '../../base/service.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { diffLines } from '#core/base/line-diff.ts'
import { RecordedRules } from '../../recorded/recorded-rules.ts'
import type { Span } from '#core/api/history.ts'

/** Context lines around a change. */
const AROUND = 3

/** End of a printed rule line that the history does not keep. */
const REF = /, ref -?\d+$/gm
/** Rules are read shortly after a server's first sample. */
const FIRST_READ_MS = 10_000

export interface PlaceRules {
  /** Place as in `placeOf`: a server, and its service unless that is ost_io. */
  readonly place: string
  /** Parameter and value. */
  readonly text: string
}

/** Sorted by place. */
export function rulesAt(reader: HistoryReader, atMs: number): PlaceRules[] {
  const at = new RecordedRules(reader).at(atMs)
  return [...at]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([place, { text }]) => {
      const [, service = 'ost_io'] = place.split('/')
      const of = Object.values(SERVICES).find((s) => s.name === service)
      return { place, text: `${of?.rules ?? 'nrs_tbf_rule'}=\n${text.replace(REF, '')}` }
    })
}

/** Time when rules of a span are first known: its beginning, or later if samples begin later. */
export function firstRulesMs(reader: HistoryReader, { fromMs, toMs }: Span): number {
  const oldestMs = Math.max(fromMs, reader.extent()?.fromMs ?? fromMs)
  if (oldestMs === fromMs || reader.rulesAt(oldestMs).length > 0) return oldestMs
  const end = Math.min(toMs - 1, oldestMs + FIRST_READ_MS)
  return reader.rulesBetween(oldestMs, end).reduce((first, r) => Math.max(oldestMs, Math.min(first, r.fromMs)), end)
}

/** Rules as one text: a comment names the server, its parameter follows. */
export const rulesText = (rules: readonly PlaceRules[]): string =>
  rules.length === 0 ? '# No rules recorded.\n' : rules.map((r) => `# ${r.place}\n${r.text}`).join('\n')

/** Same as a separate file, with its time. */
export const rulesFile = (rules: readonly PlaceRules[], atMs: number): string =>
  `# ${new Date(Math.round(atMs)).toISOString()}. Lines end before "ref": it is not kept.\n\n${rulesText(rules)}`

/** Changes in the format of diff -u, by place. */
export function rulesDiff(before: readonly PlaceRules[], after: readonly PlaceRules[]): string {
  const a = new Map(before.map((r) => [r.place, r.text]))
  const b = new Map(after.map((r) => [r.place, r.text]))
  const places = [...new Set([...a.keys(), ...b.keys()])].sort(byCodeUnit)
  return places.map((place) => unified(place, a.get(place) ?? '', b.get(place) ?? '')).join('')
}

function unified(place: string, before: string, after: string): string {
  const lines = diffLines(before, after)
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((l) => l.op !== 'keep'))
  if (!near.includes(true)) return ''
  let text = `--- before/${place}\n+++ after/${place}\n`
  let a = 1
  let b = 1
  for (let i = 0; i < lines.length;) {
    if (!near[i]) {
      i++
      a++
      b++
      continue
    }
    let end = i
    while (end < lines.length && near[end]) end++
    const hunk = lines.slice(i, end)
    const gone = hunk.filter((l) => l.op !== 'add').length
    const come = hunk.filter((l) => l.op !== 'del').length
    text += `@@ -${gone === 0 ? a - 1 : a},${gone} +${come === 0 ? b - 1 : b},${come} @@\n`
    for (const l of hunk) text += `${l.op === 'keep' ? ' ' : l.op === 'add' ? '+' : '-'}${l.text}\n`
    a += gone
    b += come
    i = end
  }
  return text
}
