/** Rules of all servers at an instant as `lctl get_param` prints them, and what changed between two instants. */
import { byCodeUnit } from '#core/base/order.ts'
import { SERVICES } from '../cluster/service.ts'
import type { HistoryReader } from '../history/reader.ts'
import { diffLines } from '../host/padll/line-diff.ts'
import { RecordedRules } from '../recorded/recorded-rules.ts'

/** Lines of what stays on either side of what changed. */
const AROUND = 3

export interface PlaceRules {
  /** Server, and its service where it is not the first one. */
  readonly place: string
  /** Parameter and value. */
  readonly text: string
}

/** By place. */
export function rulesAt(reader: HistoryReader, atMs: number): PlaceRules[] {
  const oss = new Set(reader.allTargets().flatMap((t) => (/-MDT|^MDT/i.test(t.target) ? [] : [t.node])))
  const at = new RecordedRules(reader).at(atMs)
  return [...at]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([place, { text }]) => {
      const [host = '', service] = place.split('/')
      const of = Object.values(SERVICES).find((s) => s.name === (service ?? (oss.has(host) ? 'ost_io' : 'mdt')))
      return { place, text: `${of?.rules ?? 'nrs_tbf_rule'}=\n${text}` }
    })
}

/** One text: a comment names the server, its parameter follows. */
export const rulesText = (rules: readonly PlaceRules[]): string =>
  rules.length === 0 ? '# No rules stood on any server.\n' : rules.map((r) => `# ${r.place}\n${r.text}`).join('\n')

/** What changed, in the form of diff -u, by place. */
export function rulesDiff(before: readonly PlaceRules[], after: readonly PlaceRules[]): string {
  const [a, b] = [new Map(before.map((r) => [r.place, r.text])), new Map(after.map((r) => [r.place, r.text]))]
  const places = [...new Set([...a.keys(), ...b.keys()])].sort(byCodeUnit)
  return places.map((place) => unified(place, a.get(place) ?? '', b.get(place) ?? '')).join('')
}

function unified(place: string, before: string, after: string): string {
  const lines = diffLines(before, after)
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((l) => l.op !== 'keep'))
  if (!near.includes(true)) return ''
  let text = `--- before/${place}\n+++ after/${place}\n`
  let [a, b] = [1, 1]
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
    const [gone, come] = [hunk.filter((l) => l.op !== 'add').length, hunk.filter((l) => l.op !== 'del').length]
    text += `@@ -${gone === 0 ? a - 1 : a},${gone} +${come === 0 ? b - 1 : b},${come} @@\n`
    for (const l of hunk) text += `${l.op === 'keep' ? ' ' : l.op === 'add' ? '+' : '-'}${l.text}\n`
    a += gone
    b += come
    i = end
  }
  return text
}
