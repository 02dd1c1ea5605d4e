/**
 * Filter of notebooks: `ost0003 author:mira is:open kind:verdict text:timeout`. Cell contents are read from disk in
 * time slices; results are kept until the notebook or the filter changes.
 */
import type { Incident, IncidentsFrame, Cell } from '#core/api/incidents.ts'
import { glob, type RowTest } from '../job-filter.ts'
import { readFilter, type FilterFields } from '../row-filter.ts'

/** Searchable texts of one cell, as the notebook shows them; figures are not searched. */
function cellTexts(cell: Cell): readonly string[] {
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

type Summary = IncidentsFrame['incidents'][number]
type Filtered = Pick<IncidentsFrame, 'filtered' | 'filterError'>

/** Longest time that one frame spends reading notebooks, ms. */
const READING_MS = 25
/** Number of notebooks that one frame reads in any case. */
const LEAST = 4
/** Filters whose results are kept: one per possible window, so that windows do not evict each other's results. */
const FILTERS = 32

/** Row that filter terms are evaluated on. */
interface NotebookRow {
  readonly summary: Summary
  /** undefined if it cannot be read. */
  readonly of: () => Incident | undefined
}
const head = ({ summary }: NotebookRow): readonly string[] => [
  summary.id,
  summary.title,
  summary.cluster,
  summary.author,
]
const entries = ({ of }: NotebookRow): readonly string[] => (of()?.cells ?? []).flatMap(cellTexts)

const NOTEBOOK_FIELDS: FilterFields<NotebookRow> = {
  word: (r) => [...head(r), ...entries(r)],
  text: {
    id: ({ summary }) => [summary.id],
    title: ({ summary }) => [summary.title],
    cluster: ({ summary }) => [summary.cluster],
    author: ({ summary }) => [summary.author],
    alert: ({ summary }) => (summary.alert === null ? [] : [summary.alert]),
    text: entries,
    kind: ({ of }) => (of()?.cells ?? []).map((c) => c.kind),
  },
  number: { entries: ({ summary }) => summary.cells },
  state: {
    open: ({ summary }) => summary.status === 'open',
    watching: ({ summary }) => summary.status === 'watching',
    resolved: ({ summary }) => summary.status === 'resolved',
    exercise: ({ summary }) => summary.status === 'exercise',
    alert: ({ summary }) => summary.alert !== null,
    unreadable: ({ summary }) => summary.fault !== '',
  },
}

/** Words of a filter that are searched for in cells: those without a `-`. */
function wanted(filter: string): ((text: string) => boolean)[] {
  return filter.split(/\s+/).flatMap((term) => {
    const [, value] = /^text:(.+)$/.exec(term) ?? []
    if (value !== undefined) return [glob(value)]
    return term === '' || term.startsWith('-') || /^[a-z]+(:|[<>]=?|=)/.test(term) ? [] : [glob(term)]
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
  readonly #known = new Map<string, WeakMap<Summary, Judged>>()
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
   * @param summaries  the same object while a notebook is unchanged.
   */
  apply(summaries: readonly Summary[], filter: string): Filtered {
    const { test, error } = readFilter(filter, NOTEBOOK_FIELDS)
    if (!test) return error
    const terms = wanted(filter)
    const known = this.#of(filter)
    const until = this.#nowMs() + READING_MS
    const found: NonNullable<Filtered['filtered']>['found'] = []
    let read = 0
    let unread = 0
    for (const summary of summaries) {
      let judged = known.get(summary)
      if (!judged) {
        if (read++ >= LEAST && this.#nowMs() >= until) {
          unread++
          continue
        }
        judged = this.#judge(summary, test, terms)
        known.set(summary, judged)
      }
      if (judged.passes) found.push({ id: summary.id, cells: [...judged.cells] })
    }
    if (unread > 0) this.#later()
    return { filtered: { filter, passing: found.length, of: summaries.length, found, reading: unread } }
  }

  close(): void {
    clearTimeout(this.#more)
  }

  #judge(summary: Summary, test: RowTest<NotebookRow>, terms: readonly ((text: string) => boolean)[]): Judged {
    let made: Incident | undefined
    const of = (): Incident | undefined => (made ??= summary.fault === '' ? this.#find(summary.id) : undefined)
    const passes = test({ summary, of })
    const cells = passes && terms.length > 0 ? (of()?.cells ?? []) : []
    return {
      passes,
      cells: cells.filter((c) => cellTexts(c).some((text) => terms.some((has) => has(text)))).map((c) => c.id),
    }
  }

  #of(filter: string): WeakMap<Summary, Judged> {
    const known = this.#known.get(filter) ?? new WeakMap<Summary, Judged>()
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
