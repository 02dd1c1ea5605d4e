/**
 * Which alerts open an incident. One that begins while an incident of its source is fresh joins that; of one source none is opened within
 * ten minutes of another, of all sources thirty in an hour. What is joined, comes back or ends is a line in the first note of the incident,
 * behind what stands there.
 */
import type { Entry } from '#core/alerts/book.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import { RULES } from '#core/alerts/rules.ts'
import { lasted } from '#core/alerts/words.ts'
import type { NotebookService } from './notebook-service.ts'

/** Between two incidents of a source, ms of its clock and of this machine's. */
export const APART_MS = 600_000
const HOUR_MS = 3_600_000
const AN_HOUR_MOST = 30
/** Lines that alerts add to one incident. */
const LINES_MOST = 60
const NOTE_MOST = 20_000

interface Fresh {
  readonly id: string
  readonly openedMs: number
  readonly openedWallMs: number
  /** When an alert of it last began or ended. */
  activeMs: number
  lines: number
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

export class AlertIncidents {
  readonly #notebooks: NotebookService
  readonly #wallMs: () => number
  readonly #fresh = new Map<string, Fresh>()
  #openedWallMs: number[] = []

  constructor(notebooks: NotebookService, wallMs: () => number) {
    this.#notebooks = notebooks
    this.#wallMs = wallMs
  }

  /** An alert has begun. @returns the incident that it opened or joined; null for none. */
  begin(cluster: string, entry: Entry, atMs: number): string | null {
    return ended(this.beginInSteps(cluster, entry, atMs))
  }

  /** The same in steps; what begins or ends next in that source waits for its end. */
  *beginInSteps(cluster: string, entry: Entry, atMs: number): Steps<string | null> {
    const fresh = this.#fresh.get(cluster)
    const found = fresh && this.#notebooks.find(fresh.id)
    // One that an operator is done with, or that was removed, is not written to any more.
    if (fresh && found && found.status !== 'resolved' && atMs - fresh.activeMs < APART_MS) {
      fresh.activeMs = atMs
      this.#line(fresh, `${clock(entry.fromMs)} ${entry.text}`)
      return fresh.id
    }
    const wallMs = this.#wallMs()
    if (fresh && (atMs - fresh.openedMs < APART_MS || wallMs - fresh.openedWallMs < APART_MS)) return null
    this.#openedWallMs = this.#openedWallMs.filter((t) => wallMs - t < HOUR_MS)
    if (this.#openedWallMs.length >= AN_HOUR_MOST) return null
    const made = yield* this.#notebooks.createInSteps({
      ...{ atMs: null, span: null, cluster, title: '' },
      note: `${clock(entry.fromMs)} ${entry.text}`,
      alert: { kind: entry.kind, text: entry.text.slice(0, 2_000), where: entry.where, atMs: entry.fromMs },
    })
    if (!made.ok) return null
    this.#openedWallMs.push(wallMs)
    this.#fresh.set(cluster, { id: made.value.id, openedMs: atMs, openedWallMs: wallMs, activeMs: atMs, lines: 0 })
    return made.value.id
  }

  /** An alert of an incident is over. */
  end(cluster: string, id: string, entry: Entry): void {
    const fresh = this.#fresh.get(cluster)
    if (fresh?.id !== id || entry.endMs === null) return
    fresh.activeMs = Math.max(fresh.activeMs, entry.endMs)
    const times =
      entry.returns === 0 ? '' : `, after ${entry.returns === 1 ? 'one return' : `${entry.returns} returns`}`
    const what = entry.where === '' ? '' : ` on ${entry.where}`
    this.#line(
      fresh,
      `${clock(entry.endMs)} ${RULES[entry.kind].title}${what} ended after ${lasted(entry.endMs - entry.fromMs)}${times}`,
    )
  }

  /** Behind whatever stands in the first note by then. */
  #line(fresh: Fresh, line: string): void {
    const incident = this.#notebooks.find(fresh.id)
    if (!incident || incident.status === 'resolved' || fresh.lines >= LINES_MOST) return
    fresh.lines++
    const note = incident.cells.find((c) => c.kind === 'note')
    if (note?.kind !== 'note') {
      this.#notebooks.addCell(fresh.id, null, { kind: 'note', text: line }, null)
      return
    }
    const text = `${note.text}\n${line}`
    if (text.length <= NOTE_MOST) this.#notebooks.editCell(fresh.id, note.id, text)
  }
}
