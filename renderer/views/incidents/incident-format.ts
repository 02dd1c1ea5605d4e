/** Texts of incidents and their cells. */
import type { Level } from '#core/api/frames.ts'
import type { Cell, Incident, IncidentStatus } from '#core/api/incidents.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatClock, formatDate, formatSpan } from '../../format/units.ts'

const DAY_MS = 86_400_000

export const statusLevels: Readonly<Record<IncidentStatus, Level>> = {
  open: 'bad',
  watching: 'watch',
  resolved: 'ok',
  exercise: 'idle',
}

/** Displayed status; an incident of an emulated source is not one of a cluster. */
export const statusLabel = (status: IncidentStatus): string => (status === 'exercise' ? 'emulated' : status)

/** Formats a time: `14:32` today, `Wed 09:14` in the week before, `12 Nov` otherwise. */
export function createdText(atMs: number, nowMs: number): string {
  const day = Math.floor(atMs / DAY_MS)
  const today = Math.floor(nowMs / DAY_MS)
  if (day === today) return formatClock(atMs, false)
  const [weekday = '', ...date] = formatDate(atMs).split(' ')
  return day < today && day > today - 7 ? `${weekday} ${formatClock(atMs, false)}` : date.join(' ')
}

/** Status of a notebook; if resolved, with the time since it was opened or its alert was raised. */
export function statusText({ status, resolvedMs, createdMs, alert }: Incident): string {
  if (status !== 'resolved' || resolvedMs === null) return statusLabel(status)
  const fromMs = Math.min(createdMs, alert?.atMs ?? createdMs)
  return resolvedMs >= fromMs ? `resolved in ${formatSpan(resolvedMs - fromMs)}` : status
}

const names: Readonly<Record<Cell['kind'], string>> = {
  note: 'Note',
  chart: 'Chart',
  table: 'Table',
  diff: 'Rule diff',
  verdict: 'Verdict',
  transcript: 'Transcript',
}
/** Name of a cell, e.g. `Chart Service wait`, for screen readers and the undo bar. */
export function cellName(cell: Cell): string {
  const title = 'title' in cell ? plainText(cell.title) : ''
  return title === '' ? names[cell.kind] : `${names[cell.kind]} ${title}`
}
export const kindName = (cell: Cell): string => (cell.kind === 'diff' ? 'diff' : cell.kind)

/** A range that ends this much after the newest sample ends in the future, ms. */
const FUTURE_MS = 1000
const TIERS: Readonly<Record<string, string>> = {
  raw: 'raw samples',
  '1s': 'means of 1 s',
  '10s': 'means of 10 s',
  '1min': 'means of 1 min',
}
export const tierText = (tier: string): string => TIERS[tier] ?? plainText(tier)

/**
 * Formats a range as `14:27–14:37`, with seconds if they are not 0; `14:27–now, grows until 14:37` if it ends in the future.
 *
 * @param nowMs  newest sample of a running source.
 */
export function rangeText(fromMs: number, toMs: number, nowMs = Infinity): string {
  const seconds = fromMs % 60_000 !== 0 || toMs % 60_000 !== 0
  if (fromMs <= nowMs && nowMs < toMs - FUTURE_MS)
    return `${formatClock(fromMs, seconds)}\u2013now, grows until ${formatClock(toMs, seconds)}`
  return `${formatClock(fromMs, seconds)}\u2013${formatClock(toMs, seconds)}`
}

/** `9c41 7be0 … 22d7 a1f5`: short form of a hash for comparison by eye; the copy button copies all of it. */
export function shortHash(hash: string): string {
  const group = (text: string): string => text.replace(/(.{4})(?=.)/g, '$1 ')
  return hash.length <= 20 ? group(hash) : `${group(hash.slice(0, 8))} \u2026 ${group(hash.slice(-8))}`
}

/** Range of audit records shown in a notebook's transcripts; null: none. */
export function auditOf(incident: Incident): { from: number; to: number } | null {
  const spans = incident.cells.flatMap((cell) => (cell.kind === 'transcript' && cell.audit ? [cell.audit] : []))
  if (spans.length === 0) return null
  return { from: Math.min(...spans.map((s) => s.from)), to: Math.max(...spans.map((s) => s.to)) }
}

/** Groups cells into rows: an adjacent table and rule diff share a row, every other cell has its own. */
export function cellRows(cells: readonly Cell[]): Cell[][] {
  const rows: Cell[][] = []
  for (const cell of cells) {
    const last = rows.at(-1)
    const isPair =
      last?.length === 1 &&
      ((last[0]?.kind === 'table' && cell.kind === 'diff') || (last[0]?.kind === 'diff' && cell.kind === 'table'))
    if (isPair) last.push(cell)
    else rows.push([cell])
  }
  return rows
}
