/** Layout of chart labels without overlap. Text widths are estimates: the chart is laid out without known fonts. */
import { plainText } from '../base/plain-text.ts'
import type { ChartCell } from './notebook.ts'

type Mark = ChartCell['marks'][number]

/** Estimated width, px: wide scripts take an em, others a little over half. */
export function widthOf(text: string, fontPx: number): number {
  let ems = 0
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0
    ems += code >= 0x1100 ? 1 : /[\sil.,:;'|!·]/.test(c) ? 0.3 : /[A-Zmw@%]/.test(c) ? 0.72 : 0.57
  }
  return ems * fontPx
}

/** Cuts a text to `most` characters including an ellipsis, never within a character. */
export function clipped(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, Math.max(1, most - 1)).join('')}…`
}

export interface PlacedMark {
  readonly x: number
  readonly level: Mark['level']
  readonly text: string
  /** Label row above the plot; null: no space, so the stroke has no label. */
  readonly row: number | null
  readonly textX: number
  readonly anchor: 'start' | 'end'
}

const ROWS = 3
const FONT_PX = 10.5

/** Places mark labels from left to right in up to three rows. */
export function placeMarks(
  marks: readonly Mark[],
  x: (atMs: number) => number,
  left: number,
  right: number,
): { readonly placed: PlacedMark[]; readonly rows: number } {
  const ends = Array.from({ length: ROWS }, () => -Infinity)
  const inside = [...marks].sort((a, b) => a.atMs - b.atMs).filter((m) => x(m.atMs) >= left && x(m.atMs) <= right)
  let rows = 0
  const placed = inside.map((m): PlacedMark => {
    const at = x(m.atMs)
    const text = clipped(plainText(m.text), 36)
    const width = widthOf(text, FONT_PX)
    const isLeft = at + 4 + width > right
    const [from, to] = isLeft ? [at - 4 - width, at - 4] : [at + 4, at + 4 + width]
    const row = from < left ? -1 : ends.findIndex((end) => from > end + 8)
    if (row < 0) return { x: at, level: m.level, text, row: null, textX: at, anchor: 'start' }
    ends[row] = Math.max(to, at)
    rows = Math.max(rows, row + 1)
    return { x: at, level: m.level, text, row, textX: isLeft ? at - 4 : at + 4, anchor: isLeft ? 'end' : 'start' }
  })
  return { placed, rows }
}
