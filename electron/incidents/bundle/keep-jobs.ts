/** Jobs that are kept with all their samples whatever they do: those that cells, events and rules of a stretch name. */
import type { Span } from '#core/api/history.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import type { HistoryReader } from '../../history/reader.ts'

const EVENTS = 20_000
const NAMED_MOST = 1_000
const JOBID = /jobid=\{([^{}]*)\}/g

export function jobsNamed(reader: HistoryReader, span: Span, incident: Incident | null): Set<string> {
  const named = new Set<string>()
  for (const cell of incident?.cells ?? []) {
    if (cell.kind === 'chart') {
      if (cell.place.kind === 'job') for (const name of cell.place.names) named.add(name)
      for (const s of cell.series) if (s.label.kind === 'job') named.add(s.label.text)
    } else if (cell.kind === 'table') {
      for (const r of cell.rows) if (r.name.kind === 'job') named.add(r.name.text)
    }
  }
  const asked = new Set<string>()
  for (const e of reader.events(span.fromMs - 1, span.toMs - 1, EVENTS)) {
    asked.add(e.subject)
    asked.add(e.where)
  }
  for (const rule of reader.rulesBetween(span.fromMs, span.toMs - 1)) {
    for (const [, list = ''] of rule.conditions.matchAll(JOBID)) for (const name of list.split(' ')) asked.add(name)
  }
  // In the order in which they are told, so that the same are kept of the same source.
  for (const name of asked) {
    if (named.size >= NAMED_MOST) break
    if (name !== '' && reader.jobByName(name)) named.add(name)
  }
  return named
}
