/** Placement of marks on a time axis, and of their labels where there is room. */
import type { MetadataFrame } from '#core/api/padll.ts'
import { jobName } from '../job-name.ts'

type Mark = MetadataFrame['marks'][number]

export interface PlacedMark {
  readonly key: string
  /** 0..1 along the axis. */
  readonly share: number
  /** Label beside the mark; null if it would overlap another one. */
  readonly label: string | null
  /** Texts of all marks at this place. */
  readonly title: string
  readonly level: Mark['level']
  /** True if the label is left of the line. */
  readonly isLeft: boolean
}

/** Width of a character of 10 px text, and the space around a label. */
const CHAR_PX = 5.6
const AROUND_PX = 10
/** Marks closer to each other than this are merged. */
const NEAR_PX = 4
const LABEL_CHARS = 24

/** Shortens a label. Marks begin with their job, whose program is more useful than its number. */
function cut(text: string): string {
  const short = text.replace(/^\S+/, (id) => jobName(id).short)
  return short.length > LABEL_CHARS ? `${short.slice(0, LABEL_CHARS - 1)}\u2026` : short
}

/** @param widthPx  width of the axis. */
export function placeMarks(marks: readonly Mark[], fromMs: number, toMs: number, widthPx: number): PlacedMark[] {
  if (!(toMs > fromMs) || widthPx <= 0) return []
  const inside = marks
    .filter((m) => m.atMs >= fromMs && m.atMs <= toMs)
    .sort((a, b) => a.atMs - b.atMs)
    .map((mark) => ({ mark, share: (mark.atMs - fromMs) / (toMs - fromMs) }))
  const groups: { share: number; marks: Mark[] }[] = []
  for (const { mark, share } of inside) {
    const last = groups.at(-1)
    if (last && (share - last.share) * widthPx < NEAR_PX) last.marks.push(mark)
    else groups.push({ share, marks: [mark] })
  }
  let free = 0
  return groups.map(({ share, marks: here }, i) => {
    const first = here[0] as Mark
    const text = here.length > 1 ? `${cut(first.text)} +${here.length - 1}` : cut(first.text)
    const x = share * widthPx
    const needs = text.length * CHAR_PX + AROUND_PX
    const isLeft = x + needs > widthPx && x - needs >= free
    const nextX = (groups[i + 1]?.share ?? 2) * widthPx
    const isPlaced = isLeft || (x >= free && x + needs <= Math.min(nextX, widthPx))
    if (isPlaced) free = isLeft ? x : x + needs
    return {
      key: `${first.atMs} ${first.kind} ${i}`,
      share,
      label: isPlaced ? text : null,
      title: here.map((m) => m.text).join('\n'),
      level: here.find((m) => m.level === 'bad')?.level ?? here.find((m) => m.level === 'watch')?.level ?? first.level,
      isLeft,
    }
  })
}
