/**
 * Incidents in this window: the newest frame of them, which notebook is looked at, and the verbs that write into it. What was
 * known stays while the line to the host is lost. Kept while another view is on screen.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Span } from '#core/api/history.ts'
import type { CellInput, Incident, IncidentsFrame, IncidentStatus } from '#core/api/incidents.ts'
import { useAsking } from './asking.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'
import { useUndoStore } from './undo.ts'

export type IncidentRow = IncidentsFrame['incidents'][number]

/** In the place of an id: the notebook of the bundle that is on screen. It is read only. */
export const OPENED = 'opened'
/** The same: no notebook, so that the bundle is one of the window on screen. */
export const NO_NOTEBOOK = 'none'

/** What was taken out last, and can be put back. */
export type Removal = { readonly id: string; readonly words: string } & (
  { readonly kind: 'cell'; readonly cell: string } | { readonly kind: 'incident' }
)
/** What was opened or added from another view, so that it can be gone to. */
export interface Filed {
  readonly id: string
  readonly words: string
}
export interface NewIncident {
  readonly atMs: number | null
  readonly span?: Span | null
  /** What the span is compared with. */
  readonly against?: Span | undefined
  readonly title?: string
  readonly note?: string
}

const NOT_ADDED = 'The cell was not added'
const isLive = (row: IncidentRow): boolean => row.fault === '' && row.status !== 'resolved'

export const useIncidentsStore = defineStore('incidents', () => {
  const [source, time, edits] = [useSourceStore(), useTimeStore(), useUndoStore()]
  const frame = shallowRef<IncidentsFrame | null>(null)
  /** Id that was chosen, or OPENED; null: the first of the list. */
  const chosen = ref<string | null>(null)
  const { notice, busy, ask } = useAsking((api) => api.incidents)
  /** Of the list; and what the host found by it: other streams of notebooks ask without one. */
  const filter = ref('')
  const found = shallowRef<Pick<IncidentsFrame, 'filtered' | 'filterError'>>({})
  const removed = shallowRef<Removal | null>(null)
  const filed = shallowRef<Filed | null>(null)
  /** Cell that has come in by this window, to be brought into view once. */
  const fresh = ref<string | null>(null)
  /** Whether the bundle was asked for where there is no room for it beside the notebook; and whether it is on the page. */
  const [isBundleOpen, isBundleHere] = [ref(false), ref(false)]

  const rows = computed(() => frame.value?.incidents ?? [])
  /** What the filter leaves; undefined: everything. */
  const filtered = computed(() => (filter.value === '' ? undefined : found.value.filtered))
  const inList = computed(() => {
    const ids = filtered.value && new Set(filtered.value.found.map(({ id }) => id))
    return ids ? rows.value.filter(({ id }) => ids.has(id)) : rows.value
  })
  /** Entries in which words of the filter stand, by notebook. */
  const marked = computed<ReadonlyMap<string, ReadonlySet<string>>>(
    () => new Map((filtered.value?.found ?? []).map(({ id, cells }) => [id, new Set(cells)])),
  )
  const opened = computed(() => frame.value?.opened ?? null)
  const shown = computed<string | null>(
    () => chosen.value ?? (opened.value?.incident ? OPENED : (rows.value[0]?.id ?? null)),
  )
  /** What the stream is asked for. */
  const wanted = computed(() => (shown.value === OPENED || shown.value === NO_NOTEBOOK ? null : shown.value))
  const isReadOnly = computed(() => shown.value === OPENED)
  /** The notebook on the page; null: there is none, it is gone, or it has not come yet. */
  const incident = computed<Incident | null>(() => {
    if (isReadOnly.value) return opened.value?.incident ?? null
    const selected = frame.value?.selected ?? null
    return selected?.id === shown.value ? selected : (kept.value.get(shown.value ?? '') ?? null)
  })
  /** Notebooks that this window has seen, so that one that is gone back to is there at once. */
  const kept = shallowRef<ReadonlyMap<string, Incident>>(new Map())
  const KEPT_MOST = 8
  const isGone = computed(
    () =>
      frame.value !== null &&
      shown.value !== null &&
      shown.value !== NO_NOTEBOOK &&
      (isReadOnly.value ? opened.value?.incident == null : rows.value.every((row) => row.id !== shown.value)),
  )

  /** Notebooks that were listed in this window: one that is asked for by name may never have been. */
  const listed = new Set<string>()
  const wasListed = computed(() => isGone.value && (isReadOnly.value || listed.has(shown.value ?? '')))

  /** @param of  what the stream was asked for. A frame that was not asked for a notebook says nothing of one. */
  function apply(next: IncidentsFrame, of: string | null = next.selected?.id ?? null): void {
    const before = frame.value
    const keeps = of === null && next.selected === null
    frame.value = keeps ? { ...next, selected: before?.selected ?? null, integrity: before?.integrity ?? null } : next
    for (const row of next.incidents) listed.add(row.id)
    if (next.selected !== null) {
      const others = [...kept.value].filter(([id]) => id !== next.selected?.id).slice(1 - KEPT_MOST)
      kept.value = new Map([...others, [next.selected.id, next.selected]])
    }
  }
  // A bundle that has come on screen is what is looked at; with it goes the choice of its notebook.
  watch(
    () => (opened.value?.incident ? opened.value.name : null),
    (name) => {
      if (name !== null) chosen.value = OPENED
      else if (chosen.value === OPENED) chosen.value = null
    },
    { flush: 'sync' },
  )

  function choose(id: string): void {
    chosen.value = id
    notice.value = null
  }
  /** The next or the one before in the list. */
  function step(by: number): void {
    const ids = [...(opened.value?.incident ? [OPENED] : []), ...inList.value.map((row) => row.id)]
    const at = ids.indexOf(shown.value ?? '')
    const next = ids[Math.max(0, Math.min(ids.length - 1, at < 0 ? 0 : at + by))]
    if (next !== undefined) choose(next)
  }

  /** Newest of this cluster that is not resolved: what a cell from another view joins. */
  const current = computed<IncidentRow | null>(() => {
    const cluster = source.frame?.source.cluster
    return rows.value.find((row) => row.cluster === cluster && isLive(row)) ?? null
  })

  const yes = (): true => true
  const done = async (answer: Promise<unknown>): Promise<boolean> => (await answer) !== undefined

  /** @returns its id; undefined where it was refused. */
  const create = async ({
    atMs,
    span = null,
    title = '',
    note = '',
    against,
  }: NewIncident): Promise<string | undefined> =>
    (
      await ask('create', 'The incident was not opened', (api) =>
        api.create({ atMs, span, title, note, ...(against ? { against } : {}) }),
      )
    )?.id

  type Change = { title?: string; status?: IncidentStatus; span?: Span }
  const sendChange = (id: string, to: Change): Promise<boolean> =>
    done(ask(`change ${id}`, 'The incident was not changed', (api) => api.change({ id, ...to }).then(yes)))
  async function change(id: string, to: Change): Promise<boolean> {
    const was = incident.value?.id === id ? incident.value : null
    const isDone = await sendChange(id, to)
    if (!isDone || was === null) return isDone
    const before: Change = {
      ...(to.title === undefined ? {} : { title: was.title }),
      ...(to.status === undefined ? {} : { status: was.status }),
      ...(to.span === undefined ? {} : { span: { fromMs: was.fromMs, toMs: was.toMs } }),
    }
    const what = to.title !== undefined ? 'title' : to.status !== undefined ? 'status' : 'span'
    edits.push({
      ...{ room: 'incidents', words: `${what} of ${id}` },
      undo: () => sendChange(id, before),
      redo: () => sendChange(id, to),
    })
    return true
  }

  const titleOf = (id: string): string => rows.value.find((row) => row.id === id)?.title ?? ''
  /** Without an edit; null where it was refused. */
  async function takeOut(id: string): Promise<Removal | null> {
    const words = `${id} ${titleOf(id)}`.trim()
    const at = rows.value.findIndex((row) => row.id === id)
    const isDone = await done(
      ask(`remove ${id}`, 'The incident was not removed', (api) => api.remove({ id }).then(yes)),
    )
    if (!isDone) return null
    const removal: Removal = { kind: 'incident', id, words }
    removed.value = removal
    if (chosen.value !== id && chosen.value !== null) return removal
    const next = rows.value.filter((row) => row.id !== id)
    chosen.value = next[Math.min(Math.max(0, at), next.length - 1)]?.id ?? null
    return removal
  }
  async function remove(id: string): Promise<boolean> {
    const removal = await takeOut(id)
    if (removal === null) return false
    edits.push({
      ...{ room: 'incidents', words: `removal of ${removal.words}` },
      undo: () => takeBack(removal),
      redo: async () => (await takeOut(id)) !== null,
    })
    return true
  }

  async function addCell(
    id: string,
    cell: CellInput,
    options: { atMs?: number | null; behind?: string | null } = {},
  ): Promise<string | undefined> {
    const { atMs = time.atMs, behind = null } = options
    const answer = await ask(`add ${cell.kind}`, NOT_ADDED, (api) => api.addCell({ id, atMs, cell, behind }))
    if (answer === undefined) return undefined
    fresh.value = answer.cell
    edits.push({
      ...{ room: 'incidents', words: `${cell.kind} added to ${id}` },
      undo: () => sendRemoval(id, answer.cell),
      redo: () => putBack(id, answer.cell),
    })
    return answer.cell
  }
  /** The text of a note; undefined `known` where it may be any. */
  const sendText = (id: string, cell: string, text: string): Promise<boolean> =>
    done(ask(`edit ${cell}`, 'The note was not changed', (api) => api.editCell({ id, cell, text }).then(yes)))
  async function editCell(id: string, cell: string, text: string): Promise<boolean> {
    const was = kept.value.get(id)?.cells.find((c) => c.id === cell)
    const isDone = await sendText(id, cell, text)
    if (isDone && was !== undefined && 'text' in was) {
      const before = was.text
      edits.push({
        ...{ room: 'incidents', words: `note of ${id}` },
        undo: () => sendText(id, cell, before),
        redo: () => sendText(id, cell, text),
      })
    }
    return isDone
  }
  const sendMove = (id: string, cell: string, by: number): Promise<boolean> =>
    done(ask(`move ${cell}`, 'The cell was not moved', (api) => api.moveCell({ id, cell, by }).then(yes)))
  /** How far a cell can go of what was asked for: at either end it stays. */
  function movable(id: string, cell: string, by: number): number {
    const cells = kept.value.get(id)?.cells
    const at = cells?.findIndex((c) => c.id === cell) ?? -1
    return cells === undefined || at < 0 ? by : Math.max(0, Math.min(cells.length - 1, at + by)) - at
  }
  async function moveCell(id: string, cell: string, by: number): Promise<boolean> {
    const far = movable(id, cell, by)
    const isDone = await sendMove(id, cell, by)
    if (isDone && far !== 0)
      edits.push({
        ...{ room: 'incidents', words: `place of a cell of ${id}` },
        undo: () => sendMove(id, cell, -far),
        redo: () => sendMove(id, cell, far),
      })
    return isDone
  }
  const sendRemoval = (id: string, cell: string): Promise<boolean> =>
    done(ask(`remove ${cell}`, 'The cell was not removed', (api) => api.removeCell({ id, cell }).then(yes)))
  /** A cell that was removed, where it was. */
  const putBack = (id: string, cell: string): Promise<boolean> =>
    done(ask('undo', 'The cell was not put back', (api) => api.restoreCell({ id, cell }).then(yes)))
  async function removeCell(id: string, cell: string, words: string): Promise<boolean> {
    const isDone = await sendRemoval(id, cell)
    if (!isDone) return false
    const removal: Removal = { kind: 'cell', id, words, cell }
    removed.value = removal
    edits.push({
      ...{ room: 'incidents', words: `removal of ${words}` },
      undo: () => takeBack(removal),
      redo: () => sendRemoval(id, cell),
    })
    return true
  }
  async function takeBack(removal: Removal): Promise<boolean> {
    const isDone =
      removal.kind === 'cell'
        ? await putBack(removal.id, removal.cell)
        : await done(ask('undo', 'The incident was not put back', (api) => api.restore({ id: removal.id }).then(yes)))
    if (!isDone) return false
    if (removed.value?.id === removal.id && removed.value.words === removal.words) removed.value = null
    if (removal.kind === 'incident') chosen.value = removal.id
    return true
  }
  /** Takes the last removal of this window back: by the list of edits where it is the newest of them. */
  async function undo(): Promise<void> {
    const last = removed.value
    if (last === null) return
    if (edits.next?.words === `removal of ${last.words}`) await edits.undo()
    else await takeBack(last)
  }

  /** Opens an incident from another view, which stays on screen. */
  async function file(what: NewIncident, cell: CellInput | null = null): Promise<string | undefined> {
    const id = await create(what)
    if (id === undefined) return tellElsewhere()
    if (cell !== null && (await addCell(id, cell, { atMs: what.atMs })) === undefined) tellElsewhere()
    filed.value = { id, words: `${id} was opened` }
    chosen.value = id
    return id
  }
  /** Adds what another view shows to a notebook. */
  async function fileInto(id: string, cell: CellInput, atMs: number | null = time.atMs): Promise<boolean> {
    const added = await addCell(id, cell, { atMs })
    if (added === undefined) tellElsewhere()
    else filed.value = { id, words: `Added to ${id}` }
    return added !== undefined
  }
  /** The view on screen is another one: what was refused is said above it. */
  function tellElsewhere(): undefined {
    if (notice.value !== null) source.tell(notice.value)
    notice.value = null
    return undefined
  }

  return {
    ...{ frame, chosen, shown, wanted, incident, isReadOnly, isGone, wasListed, rows, opened, current },
    ...{ filter, found, filtered, inList, marked },
    ...{ notice, busy, removed, filed, fresh, isBundleOpen, isBundleHere },
    ...{ apply, choose, step, create, change, remove, addCell, editCell, moveCell, removeCell, undo, file, fileInto },
  }
})
