/**
 * Filter of notebooks: `ost0003 author:mira is:open kind:verdict text:timeout`. Cell contents are read from disk in
 * time slices; results are kept until the notebook or the filter changes.
 */
import type { Incident, IncidentsFrame, Cell } from '#core/api/incidents.ts'
import { glob, type RowTest } from '../job-filter.ts'
import { readFilter, type FilterFields } from '../row-filter.ts'

/** Searchable texts of one cell, as the notebook shows them; figures are not searched. */
function cellWords(cell: Cell): readonly string[] {
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

type Face = IncidentsFrame['incidents'][number]
type Told = Pick<IncidentsFrame, 'filtered' | 'filterError'>

/** Longest time that one frame spends reading notebooks, ms; and the number it always reads. */
const READING_MS = 25
const LEAST = 4
/** Filters whose results are kept: one per possible window, so that windows do not evict each other's results. */
const FILTERS = 32

/** Row that filter terms are evaluated on. */
interface NotebookRow {
  readonly face: Face
  /** undefined if it cannot be read. */
  readonly of: () => Incident | undefined
}
const head = ({ face }: NotebookRow): readonly string[] => [face.id, face.title, face.cluster, face.author]
const entries = ({ of }: NotebookRow): readonly string[] => (of()?.cells ?? []).flatMap(cellWords)

const NOTEBOOK_FIELDS: FilterFields<NotebookRow> = {
  word: (r) => [...head(r), ...entries(r)],
  text: {
    id: ({ face }) => [face.id],
    title: ({ face }) => [face.title],
    cluster: ({ face }) => [face.cluster],
    author: ({ face }) => [face.author],
    alert: ({ face }) => (face.alert === null ? [] : [face.alert]),
    text: entries,
    kind: ({ of }) => (of()?.cells ?? []).map((c) => c.kind),
  },
  number: { entries: ({ face }) => face.cells },
  state: {
    open: ({ face }) => face.status === 'open',
    watching: ({ face }) => face.status === 'watching',
    resolved: ({ face }) => face.status === 'resolved',
    exercise: ({ face }) => face.status === 'exercise',
    alert: ({ face }) => face.alert !== null,
    unreadable: ({ face }) => face.fault !== '',
  },
}

/** Words of a filter that are searched for in cells: those without a `-`. */
function wanted(filter: string): ((text: string) => boolean)[] {
  return filter.split(/\s+/).flatMap((word) => {
    const [, value] = /^text:(.+)$/.exec(word) ?? []
    if (value !== undefined) return [glob(value)]
    return word === '' || word.startsWith('-') || /^[a-z]+(:|[<>]=?|=)/.test(word) ? [] : [glob(word)]
  })
}

interface Judged {
  readonly passes: boolean
  /** Ids of the cells that contain a word. */
  readonly cells: readonly string[]
}

export class NotebookFilter {
  readonly #find: (id: string) => Incident | undefined
  readonly #onMore: () => void
  readonly #nowMs: () => number
  /** Results by filter: two windows may have one each. */
  readonly #known = new Map<string, WeakMap<Face, Judged>>()
  #more: NodeJS.Timeout | undefined

  /**
   * @param find    reads a notebook.
   * @param onMore  called when notebooks that a frame skipped can be read.
   * @param nowMs   monotonic clock.
   */
  constructor(
    find: (id: string) => Incident | undefined,
    onMore: () => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#find = find
    this.#onMore = onMore
    this.#nowMs = nowMs
  }

  /**
   * Notebooks of the list that pass.
   *
   * @param faces  the same object while a notebook is unchanged.
   */
  told(faces: readonly Face[], filter: string): Told {
    const { test, error } = readFilter(filter, NOTEBOOK_FIELDS)
    if (!test) return error
    const words = wanted(filter)
    const known = this.#of(filter)
    const until = this.#nowMs() + READING_MS
    const found: NonNullable<Told['filtered']>['found'] = []
    let read = 0
    let unread = 0
    for (const face of faces) {
      let judged = known.get(face)
      if (!judged) {
        if (read++ >= LEAST && this.#nowMs() >= until) {
          unread++
          continue
        }
        judged = this.#judge(face, test, words)
        known.set(face, judged)
      }
      if (judged.passes) found.push({ id: face.id, cells: [...judged.cells] })
    }
    if (unread > 0) this.#later()
    return { filtered: { filter, passing: found.length, of: faces.length, found, reading: unread } }
  }

  close(): void {
    clearTimeout(this.#more)
  }

  #judge(face: Face, test: RowTest<NotebookRow>, words: readonly ((text: string) => boolean)[]): Judged {
    let made: Incident | undefined
    const of = (): Incident | undefined => (made ??= face.fault === '' ? this.#find(face.id) : undefined)
    const passes = test({ face, of })
    const cells = passes && words.length > 0 ? (of()?.cells ?? []) : []
    return {
      passes,
      cells: cells.filter((c) => cellWords(c).some((text) => words.some((has) => has(text)))).map((c) => c.id),
    }
  }

  #of(filter: string): WeakMap<Face, Judged> {
    const known = this.#known.get(filter) ?? new WeakMap<Face, Judged>()
    this.#known.delete(filter)
    this.#known.set(filter, known)
    // Every keystroke is a new filter; only the newest are queried again.
    for (const old of [...this.#known.keys()].slice(0, -FILTERS)) this.#known.delete(old)
    return known
  }

  #later(): void {
    if (this.#more !== undefined) return
    this.#more = setTimeout(() => {
      this.#more = undefined
      this.#onMore()
    }, 0)
    this.#more.unref()
  }
}
