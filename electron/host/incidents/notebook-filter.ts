/**
 * The filter of notebooks: `ost0003 author:mira is:open kind:verdict text:timeout`. What only the entries tell is read from disk, a
 * while at a time; what was found stays found until the notebook or the filter is another one.
 */
import type { Incident, IncidentsFrame } from '#core/api/incidents.ts'
import { glob, type RowTest } from '../job-filter.ts'
import { readFilter, type FilterFields } from '../row-filter.ts'
import { cellWords } from './cell-words.ts'

type Face = IncidentsFrame['incidents'][number]
type Told = Pick<IncidentsFrame, 'filtered' | 'filterError'>

/** Longest time that one frame reads notebooks it has not read yet, ms; and how many it reads however long that takes. */
const READING_MS = 25
const LEAST = 4
/** Filters of which it is remembered what passed: one for each window that can be open, or they would undo each other's reading. */
const FILTERS = 32

/** What a term can ask of a notebook. */
interface NotebookRow {
  readonly face: Face
  /** undefined where it cannot be read. */
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

/** Words of a filter that are looked for in entries: those that are not turned round. */
function wanted(filter: string): ((text: string) => boolean)[] {
  return filter.split(/\s+/).flatMap((word) => {
    const [, value] = /^text:(.+)$/.exec(word) ?? []
    if (value !== undefined) return [glob(value)]
    return word === '' || word.startsWith('-') || /^[a-z]+(:|[<>]=?|=)/.test(word) ? [] : [glob(word)]
  })
}

interface Judged {
  readonly passes: boolean
  /** Entries in which a word stands. */
  readonly cells: readonly string[]
}

export class NotebookFilter {
  readonly #find: (id: string) => Incident | undefined
  readonly #onMore: () => void
  readonly #nowMs: () => number
  /** By filter: two windows may have one each. */
  readonly #known = new Map<string, WeakMap<Face, Judged>>()
  #more: NodeJS.Timeout | undefined

  /**
   * @param find    reads a notebook.
   * @param onMore  called when there is time for those that a frame had none for.
   * @param nowMs   a clock that only goes on.
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
   * What of the listed notebooks passes.
   *
   * @param faces  the same object while a notebook is as it was.
   */
  told(faces: readonly Face[], filter: string): Told {
    const { test, error } = readFilter(filter, NOTEBOOK_FIELDS)
    if (!test) return error
    const words = wanted(filter)
    const known = this.#of(filter)
    const until = this.#nowMs() + READING_MS
    const found: NonNullable<Told['filtered']>['found'] = []
    let [read, unread] = [0, 0]
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
    // Each letter that is typed is a filter of its own; only the newest are asked for again.
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
