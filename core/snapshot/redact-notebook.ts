/** Redacts the notebook of an incident: names according to the schema, all notes as free text. */
import type { Cell, Incident } from './notebook.ts'
import type { Redactor } from './redactor.ts'

type Of<K extends Cell['kind']> = Extract<Cell, { kind: K }>
type Provenance = Of<'chart'>['of']

const provenance = (of: Provenance, r: Redactor): Provenance => ({ ...of, cluster: r.name('cluster', of.cluster) })

/** Replacing names can make a text longer than the maximum; the excess is cut, so that the notebook stays valid. */
const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
const short = (text: string): string => cut(text, 512)

const BY_KIND: { readonly [K in Cell['kind']]: (cell: Of<K>, r: Redactor) => Of<K> } = {
  note: (c, r) => ({ ...c, text: cut(r.prose(c.text), 20_000) }),
  chart: (c, r) => ({
    ...c,
    title: short(r.prose(c.title)),
    unit: cut(r.text(c.unit), 32),
    place: { kind: c.place.kind, names: c.place.names.map((n) => short(r.name(c.place.kind, n))) },
    series: c.series.map((s) => ({
      ...s,
      label: { kind: s.label.kind, text: short(r.name(s.label.kind, s.label.text)) },
    })),
    limit: c.limit && { ...c.limit, label: short(r.prose(c.limit.label)) },
    marks: c.marks.map((m) => ({ ...m, text: short(r.prose(m.text)) })),
    of: provenance(c.of, r),
  }),
  table: (c, r) => ({
    ...c,
    title: short(r.prose(c.title)),
    columns: c.columns.map((col) => ({ ...col, label: cut(r.prose(col.label), 64), unit: cut(r.text(col.unit), 32) })),
    rows: c.rows.map((row) => ({
      ...row,
      name: { kind: row.name.kind, text: short(r.name(row.name.kind, row.name.text)) },
    })),
    of: provenance(c.of, r),
  }),
  diff: (c, r) => ({
    ...c,
    title: short(r.prose(c.title)),
    lines: c.lines.map((l) => ({
      ...l,
      name: short(r.name('rule', l.name)),
      conditions: cut(r.conditions(l.conditions), 4_096),
    })),
    of: provenance(c.of, r),
  }),
  verdict: (c, r) => ({
    ...c,
    title: short(r.prose(c.title)),
    parts: c.parts.map((p) => ({ ...p, text: cut(r.prose(p.text), 2_000) })),
    detail: cut(r.prose(c.detail), 2_000),
    unknown: c.unknown.map((u) => cut(r.prose(u), 1_000)),
    of: provenance(c.of, r),
  }),
  transcript: (c, r) => ({
    ...c,
    lines: c.lines.map((l) => ({
      ...l,
      where: short(r.name('host', l.where)),
      text: cut(isProse(l.kind) ? r.prose(l.text) : r.text(l.text), 8_192),
    })),
    of: provenance(c.of, r),
  }),
}

/** Commands and their results consist of figures; choices of operators and pasted text may name a job by its number. */
export const isProse = (kind: Of<'transcript'>['lines'][number]['kind']): boolean =>
  kind === 'mode' || kind === 'pasted'

const redactCell = <K extends Cell['kind']>(cell: Of<K>, r: Redactor): Of<K> => BY_KIND[cell.kind](cell, r)

/** Redacted notebook without any name of the site. Values, times, levels and colors stay. */
export function redactIncident(incident: Incident, r: Redactor): Incident {
  if (!r.isOn) return incident
  return {
    ...incident,
    title: cut(r.prose(incident.title), 200),
    source: {
      ...incident.source,
      cluster: short(r.name('cluster', incident.source.cluster)),
      scenario: incident.source.scenario === null ? null : cut(r.prose(incident.source.scenario), 200),
    },
    author: short(r.name('user', incident.author)),
    alert: incident.alert && {
      ...incident.alert,
      text: cut(r.prose(incident.alert.text), 2_000),
      where: short(r.name('host', incident.alert.where)),
    },
    cells: incident.cells.map((c) => redactCell(c, r)),
  }
}
