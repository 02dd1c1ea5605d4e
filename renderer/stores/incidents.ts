/**
 * Incidents: newest frame, selected incident, and requests that edit it. Data stays while the connection to the host is
 * lost. Kept while another view is shown.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Span } from '#core/api/history.ts'
import type { CellInput, Incident, IncidentsFrame, IncidentStatus } from '#core/api/incidents.ts'
import { useRequests } from './requests.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'
import { useUndoStore } from './undo.ts'

export type IncidentRow = IncidentsFrame['incidents'][number]

/** Pseudo id: the notebook of the open bundle. Read-only. */
export const OPENED = 'opened'
/** Pseudo id: no notebook; the bundle covers the current window. */
export const NO_NOTEBOOK = 'none'

/** Last removal, which can be undone. */
export type Removal = { readonly id: string; readonly label: string } & (
  { readonly kind: 'cell'; readonly cell: string } | { readonly kind: 'incident' }
)
/** Incident created or extended from another view, to link to it. */
export interface Filed {
  readonly id: string
  readonly text: string
}
export interface NewIncident {
  readonly atMs: number | null
  readonly span?: Span | null
  /** Span that it is compared with. */
  readonly against?: Span | undefined
  readonly title?: string
  readonly note?: string
}

const NOT_ADDED = 'The cell was not added'
const isLive = (row: IncidentRow): boolean => row.fault === '' && row.status !== 'resolved'

export const useIncidentsStore = defineStore('incidents', () => {
  const source = useSourceStore()
  const time = useTimeStore()
  const edits = useUndoStore()
  const frame = shallowRef<IncidentsFrame | null>(null)
  /** Selected id, or OPENED; null: the first of the list. */
  const chosen = ref<string | null>(null)
  const { notice, busy, request } = useRequests((api) => api.incidents)
  /** Filter of the list, and its matches from the host: other incident streams are requested without one. */
  const filter = ref('')
  const found = shallowRef<Pick<IncidentsFrame, 'filtered' | 'filterError'>>({})
  const removed = shallowRef<Removal | null>(null)
  const filed = shallowRef<Filed | null>(null)
  /** Cell added by this window, to be scrolled into view once. */
  const fresh = ref<string | null>(null)
  /** True while the bundle panel is opened where it does not fit beside the notebook. */
  const isBundleOpen = ref(false)
  /** True while the bundle panel is rendered. */
  const isBundleHere = ref(false)

  const rows = computed(() => frame.value?.incidents ?? [])
  /** Result of the filter; undefined: no filter. */
  const filtered = computed(() => (filter.value === '' ? undefined : found.value.filtered))
  const inList = computed(() => {
    const ids = filtered.value && new Set(filtered.value.found.map(({ id }) => id))
    return ids ? rows.value.filter(({ id }) => ids.has(id)) : rows.value
  })
  /** Matching cells by incident. */
  const marked = computed<ReadonlyMap<string, ReadonlySet<string>>>(
    () => new Map((filtered.value?.found ?? []).map(({ id, cells }) => [id, new Set(cells)])),
  )
  const opened = computed(() => frame.value?.opened ?? null)
  const shown = computed<string | null>(
    () => chosen.value ?? (opened.value?.incident ? OPENED : (rows.value[0]?.id ?? null)),
  )
  /** Incident to request from the stream. */
  const wanted = computed(() => (shown.value === OPENED || shown.value === NO_NOTEBOOK ? null : shown.value))
  const isReadOnly = computed(() => shown.value === OPENED)
  /** Current incident; null: none, removed, or not loaded yet. */
  const incident = computed<Incident | null>(() => {
    if (isReadOnly.value) return opened.value?.incident ?? null
    const selected = frame.value?.selected ?? null
    return selected?.id === shown.value ? selected : (recent.value.get(shown.value ?? '') ?? null)
  })
  /** Recently shown incidents, so that returning to one shows it at once. */
  const recent = shallowRef<ReadonlyMap<string, Incident>>(new Map())
  const RECENT_MOST = 8
  const isGone = computed(
    () =>
      frame.value !== null &&
      shown.value !== null &&
      shown.value !== NO_NOTEBOOK &&
      (isReadOnly.value ? opened.value?.incident == null : rows.value.every((row) => row.id !== shown.value)),
  )

  /** Ids listed since the window was opened: one requested by name may never have existed. */
  const listed = new Set<string>()
  const wasListed = computed(() => isGone.value && (isReadOnly.value || listed.has(shown.value ?? '')))

  /** @param of  incident requested from the stream. A frame without a requested incident does not clear it. */
  function apply(next: IncidentsFrame, of: string | null = next.selected?.id ?? null): void {
    const before = frame.value
    const keeps = of === null && next.selected === null
    frame.value = keeps ? { ...next, selected: before?.selected ?? null, integrity: before?.integrity ?? null } : next
    for (const row of next.incidents) listed.add(row.id)
    if (next.selected !== null) {
      const others = [...recent.value].filter(([id]) => id !== next.selected?.id).slice(1 - RECENT_MOST)
      recent.value = new Map([...others, [next.selected.id, next.selected]])
    }
  }
  // Opening a bundle selects its notebook; closing it clears that selection.
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
  /** Selects the next or previous in the list. */
  function step(by: number): void {
    const ids = [...(opened.value?.incident ? [OPENED] : []), ...inList.value.map((row) => row.id)]
    const at = ids.indexOf(shown.value ?? '')
    const next = ids[Math.max(0, Math.min(ids.length - 1, at < 0 ? 0 : at + by))]
    if (next !== undefined) choose(next)
  }

  /** Newest unresolved incident of this cluster, which cells from other views are added to. */
  const current = computed<IncidentRow | null>(() => {
    const cluster = source.frame?.source.cluster
    return rows.value.find((row) => row.cluster === cluster && isLive(row)) ?? null
  })

  const yes = (): true => true
  const done = async (answer: Promise<unknown>): Promise<boolean> => (await answer) !== undefined

  /** @returns its id; undefined if refused. */
  const create = async ({
    atMs,
    span = null,
    title = '',
    note = '',
    against,
  }: NewIncident): Promise<string | undefined> =>
    (
      await request('create', 'The incident was not created', (api) =>
        api.create({ atMs, span, title, note, ...(against ? { against } : {}) }),
      )
    )?.id

  type Change = { title?: string; status?: IncidentStatus; span?: Span }
  const sendChange = (id: string, to: Change): Promise<boolean> =>
    done(request(`change ${id}`, 'The incident was not changed', (api) => api.change({ id, ...to }).then(yes)))
  async function change(id: string, to: Change): Promise<boolean> {
    const was = incident.value?.id === id ? incident.value : null
    const isDone = await sendChange(id, to)
    if (!isDone || was === null) return isDone
    const before: Change = {
      ...(to.title === undefined ? {} : { title: was.title }),
      ...(to.status === undefined ? {} : { status: was.status }),
      ...(to.span === undefined ? {} : { span: { fromMs: was.fromMs, toMs: was.toMs } }),
    }
    const what = to.title !== undefined ? 'title' : to.status !== undefined ? 'status' : 'time range'
    edits.push({
      area: 'incidents',
      label: `${what} of ${id}`,
      undo: () => sendChange(id, before),
      redo: () => sendChange(id, to),
    })
    return true
  }

  const titleOf = (id: string): string => rows.value.find((row) => row.id === id)?.title ?? ''
  /** Removes an incident without an undo entry; null if refused. */
  async function removeIncident(id: string): Promise<Removal | null> {
    const label = `${id} ${titleOf(id)}`.trim()
    const at = rows.value.findIndex((row) => row.id === id)
    const isDone = await done(
      request(`remove ${id}`, 'The incident was not removed', (api) => api.remove({ id }).then(yes)),
    )
    if (!isDone) return null
    const removal: Removal = { kind: 'incident', id, label }
    removed.value = removal
    if (chosen.value !== id && chosen.value !== null) return removal
    const next = rows.value.filter((row) => row.id !== id)
    chosen.value = next[Math.min(Math.max(0, at), next.length - 1)]?.id ?? null
    return removal
  }
  async function remove(id: string): Promise<boolean> {
    const removal = await removeIncident(id)
    if (removal === null) return false
    edits.push({
      area: 'incidents',
      label: `removal of ${removal.label}`,
      undo: () => undoRemoval(removal),
      redo: async () => (await removeIncident(id)) !== null,
    })
    return true
  }

  async function addCell(
    id: string,
    cell: CellInput,
    options: { atMs?: number | null; behind?: string | null } = {},
  ): Promise<string | undefined> {
    const { atMs = time.atMs, behind = null } = options
    const answer = await request(`add ${cell.kind}`, NOT_ADDED, (api) => api.addCell({ id, atMs, cell, behind }))
    if (answer === undefined) return undefined
    fresh.value = answer.cell
    edits.push({
      area: 'incidents',
      label: `${cell.kind} added to ${id}`,
      undo: () => sendRemoval(id, answer.cell),
      redo: () => restoreRemovedCell(id, answer.cell),
    })
    return answer.cell
  }
  /** Sends the text of a note. */
  const sendText = (id: string, cell: string, text: string): Promise<boolean> =>
    done(request(`edit ${cell}`, 'The note was not changed', (api) => api.editCell({ id, cell, text }).then(yes)))
  async function editCell(id: string, cell: string, text: string): Promise<boolean> {
    const was = recent.value.get(id)?.cells.find((c) => c.id === cell)
    const isDone = await sendText(id, cell, text)
    if (isDone && was !== undefined && 'text' in was) {
      const before = was.text
      edits.push({
        area: 'incidents',
        label: `note of ${id}`,
        undo: () => sendText(id, cell, before),
        redo: () => sendText(id, cell, text),
      })
    }
    return isDone
  }
  const sendMove = (id: string, cell: string, by: number): Promise<boolean> =>
    done(request(`move ${cell}`, 'The cell was not moved', (api) => api.moveCell({ id, cell, by }).then(yes)))
  /** Limits a move of a cell to the ends of the list. */
  function movable(id: string, cell: string, by: number): number {
    const cells = recent.value.get(id)?.cells
    const at = cells?.findIndex((c) => c.id === cell) ?? -1
    return cells === undefined || at < 0 ? by : Math.max(0, Math.min(cells.length - 1, at + by)) - at
  }
  async function moveCell(id: string, cell: string, by: number): Promise<boolean> {
    const far = movable(id, cell, by)
    const isDone = await sendMove(id, cell, by)
    if (isDone && far !== 0)
      edits.push({
        area: 'incidents',
        label: `move of a cell of ${id}`,
        undo: () => sendMove(id, cell, -far),
        redo: () => sendMove(id, cell, far),
      })
    return isDone
  }
  const sendRemoval = (id: string, cell: string): Promise<boolean> =>
    done(request(`remove ${cell}`, 'The cell was not removed', (api) => api.removeCell({ id, cell }).then(yes)))
  /** Restores a removed cell at its position. */
  const restoreRemovedCell = (id: string, cell: string): Promise<boolean> =>
    done(request('undo', 'The cell was not restored', (api) => api.restoreCell({ id, cell }).then(yes)))
  async function removeCell(id: string, cell: string, label: string): Promise<boolean> {
    const isDone = await sendRemoval(id, cell)
    if (!isDone) return false
    const removal: Removal = { kind: 'cell', id, label, cell }
    removed.value = removal
    edits.push({
      area: 'incidents',
      label: `removal of ${label}`,
      undo: () => undoRemoval(removal),
      redo: () => sendRemoval(id, cell),
    })
    return true
  }
  async function undoRemoval(removal: Removal): Promise<boolean> {
    const isDone =
      removal.kind === 'cell'
        ? await restoreRemovedCell(removal.id, removal.cell)
        : await done(
            request('undo', 'The incident was not restored', (api) => api.restore({ id: removal.id }).then(yes)),
          )
    if (!isDone) return false
    if (removed.value?.id === removal.id && removed.value.label === removal.label) removed.value = null
    if (removal.kind === 'incident') chosen.value = removal.id
    return true
  }
  /** Undoes the last removal of this window, through the undo list if it is the newest edit. */
  async function undo(): Promise<void> {
    const last = removed.value
    if (last === null) return
    if (edits.next?.label === `removal of ${last.label}`) await edits.undo()
    else await undoRemoval(last)
  }

  /** Creates an incident from another view, which stays on screen. */
  async function file(what: NewIncident, cell: CellInput | null = null): Promise<string | undefined> {
    const id = await create(what)
    if (id === undefined) return showInView()
    if (cell !== null && (await addCell(id, cell, { atMs: what.atMs })) === undefined) showInView()
    filed.value = { id, text: `${id} created` }
    chosen.value = id
    return id
  }
  /** Adds a cell from another view to an incident. */
  async function fileInto(id: string, cell: CellInput, atMs: number | null = time.atMs): Promise<boolean> {
    const added = await addCell(id, cell, { atMs })
    if (added === undefined) showInView()
    else filed.value = { id, text: `Added to ${id}` }
    return added !== undefined
  }
  /** Shows a refusal above the current view. */
  function showInView(): undefined {
    if (notice.value !== null) source.notify(notice.value)
    notice.value = null
    return undefined
  }

  return {
    frame,
    chosen,
    shown,
    wanted,
    incident,
    isReadOnly,
    isGone,
    wasListed,
    rows,
    opened,
    current,
    filter,
    found,
    filtered,
    inList,
    marked,
    notice,
    busy,
    removed,
    filed,
    fresh,
    isBundleOpen,
    isBundleHere,
    apply,
    choose,
    step,
    create,
    change,
    remove,
    addCell,
    editCell,
    moveCell,
    removeCell,
    undo,
    file,
    fileInto,
  }
})
