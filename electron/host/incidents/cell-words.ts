/** What stands in the entries of a notebook, in words: what a filter looks through. Figures are not words. */
import type { Cell } from '#core/api/incidents.ts'

/** Texts of one entry, as the notebook shows them. */
export function cellWords(cell: Cell): readonly string[] {
  switch (cell.kind) {
    case 'note':
      return [cell.text]
    case 'chart':
      return [
        cell.title,
        ...cell.place.names,
        ...cell.series.map((s) => s.label.text),
        ...cell.marks.map((m) => m.text),
      ]
    case 'table':
      return [cell.title, ...cell.rows.map((r) => r.name.text)]
    case 'diff':
      return [cell.title, ...cell.lines.flatMap((l) => [l.name, l.conditions])]
    case 'verdict':
      return [cell.title, cell.parts.map((p) => p.text).join(''), cell.detail]
    case 'transcript':
      return cell.lines.flatMap((l) => [l.where, l.text])
  }
}
