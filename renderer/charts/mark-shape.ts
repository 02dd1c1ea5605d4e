/** Shapes of events, about 8 px high around the origin: kinds are distinguishable without color. */
import type { Mark } from '#core/api/history.ts'
import type { Token } from '../theme/palette.ts'
import { plainText } from '../format/plain-text.ts'
import { formatClock, plural } from '../format/units.ts'

export interface MarkShape {
  /** Path data, for SVG and for Path2D. */
  readonly path: string
  readonly ink: Token
  /** Drawn as lines; others are filled. */
  readonly isStroke?: boolean
  /** Name in a legend. */
  readonly word: string
}

const circle = (r: number): string => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`

export const markShapes: Readonly<Record<Mark['kind'], MarkShape>> = {
  start: { path: 'M-3.5 3h7L0-3z', ink: 'ink-3', word: 'start' },
  change: { path: 'M0-3.6L3.6 0 0 3.6-3.6 0z', ink: 'ink-4', word: 'change' },
  stop: { path: 'M-3-3h6v6h-6z', ink: 'ink-2', word: 'stop' },
  alarm: { path: 'M-4 3.5h8L0-3.5z', ink: 'bad', word: 'alert' },
  lost: { path: 'M-3-3l6 6m0-6l-6 6', ink: 'idle', isStroke: true, word: 'lost' },
  mode: { path: 'M0-3.6L3.6 0 0 3.6-3.6 0z', ink: 'accent', word: 'mode' },
  controller: { path: circle(1.8), ink: 'text-3', word: 'decision' },
  job: { path: circle(2.4), ink: 'text-2', word: 'job' },
  note: { path: 'M-2 4v-8h6L2-1.8 4 .4h-6', ink: 'note', word: 'note' },
}

/** Kinds by rank: of several marks at one place, the first kind in this list is drawn. */
const RANK: readonly Mark['kind'][] = [
  ...(['alarm', 'note', 'lost', 'start', 'stop', 'change', 'mode', 'job', 'controller'] as const),
]

export interface MarkGroup {
  readonly x: number
  readonly kind: Mark['kind']
  readonly marks: readonly Mark[]
}

/** Merges overlapping marks into one, at the position of the most important one. `marks` in any order. */
export function groupMarks(marks: readonly Mark[], xOf: (atMs: number) => number, reachPx: number): MarkGroup[] {
  const groups: { fromX: number; marks: Mark[] }[] = []
  for (const mark of [...marks].sort((a, b) => a.atMs - b.atMs)) {
    const last = groups.at(-1)
    if (last && xOf(mark.atMs) - last.fromX < reachPx) last.marks.push(mark)
    else groups.push({ fromX: xOf(mark.atMs), marks: [mark] })
  }
  return groups.map(({ marks: of }) => {
    const first = of.reduce((best, m) => (RANK.indexOf(m.kind) < RANK.indexOf(best.kind) ? m : best))
    return { x: xOf(first.atMs), kind: first.kind, marks: of }
  })
}

const drawnOf = (group: MarkGroup): Mark | undefined => group.marks.findLast((m) => m.kind === group.kind)
/** Instant that a group links to: its newest mark of the kind drawn. */
export const groupInstant = (group: MarkGroup): number => drawnOf(group)?.atMs ?? group.marks.at(-1)?.atMs ?? 0
/** Accessible name of a group: the number of marks, and the text of the one drawn. */
export function groupName(group: MarkGroup): string {
  const mark = drawnOf(group)
  const what = mark ? `${formatClock(mark.atMs)} ${mark.subject}: ${plainText(mark.text)}` : ''
  return group.marks.length > 1 ? `${plural(group.marks.length, 'event')}, ${what}` : what
}
