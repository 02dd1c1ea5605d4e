/**
 * Locks in this window: plane, table, the resource and the moment that are looked at, the cursor inside it, and the
 * comparison of lock managers. Kept while another view is on screen.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { LockManagerName, LocksCompare, LocksPlane, LocksSort, Moment } from '#core/api/locks.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSelectionStore } from './selection.ts'

/** Lengths of a moment that can be chosen, ms. */
export const spans = [5, 20, 60, 200, 1000] as const
const managers: LockManagerName[] = ['seqdlm', 'datatype', 'lustre', 'basic']
/** Two bursts of a checkpoint that comes every eight seconds. */
const COMPARE_S = 10
const NOT_COMPARED = 'The lock managers were not compared'
/** Longest name of a selection that the contract takes. */
const SELECTED_MAX = 300

export const useLocksStore = defineStore('locks', () => {
  const [connection, selection] = [useConnectionStore(), useSelectionStore()]
  /** null: the first that the source has. */
  const plane = ref<LocksPlane | null>(null)
  const sort = ref<LocksSort>('waiting')
  const filter = ref('')
  /** Key of a resource, or a namespace; empty: the most contended. */
  const selected = ref('')
  /** null: the peak of the queue of the last seconds. */
  const moment = shallowRef<Moment | null>(null)
  /** null: as long as the longest queue needs to be seen whole. */
  const spanMs = ref<number | null>(null)
  /** Where the cursor stands, Unix ms; null: at the moment's longest queue. */
  const cursorAtMs = ref<number | null>(null)
  const middle = ref<'lanes' | 'messages' | 'values'>('lanes')

  const query = computed(() => ({
    ...{ plane: plane.value, sort: sort.value, filter: filter.value, moment: moment.value, spanMs: spanMs.value },
    selected: selected.value.length <= SELECTED_MAX ? selected.value : '',
  }))

  /** Stays on a moment of a resource instead of following the peak of the queue. */
  function pin(resource: string, next: Moment): void {
    selected.value = resource
    moment.value = { endMs: next.endMs, spanMs: next.spanMs }
  }
  /** Back to the peak of the last seconds. */
  function follow(): void {
    moment.value = null
    cursorAtMs.value = null
  }
  function putCursor(resource: string, at: Moment, atMs: number): void {
    pin(resource, at)
    cursorAtMs.value = atMs
  }
  /** Another length, around the same middle or around the cursor; shown is the moment on screen. null fits the longest queue. */
  function setSpan(next: number | null, shown: Moment | null): void {
    spanMs.value = next
    if (next === null) follow()
    if (next === null || moment.value === null || shown === null) return
    const from = shown.endMs - shown.spanMs
    const inside = cursorAtMs.value !== null && cursorAtMs.value >= from && cursorAtMs.value <= shown.endMs
    const centre = inside ? (cursorAtMs.value ?? 0) : shown.endMs - shown.spanMs / 2
    moment.value = { endMs: centre + next / 2, spanMs: next }
  }
  function select(key: string): void {
    if (key === selected.value) return
    selected.value = key
    follow()
  }
  /** Another plane has other rows. */
  function show(next: LocksPlane): void {
    if (next === plane.value) return
    plane.value = next
    selected.value = filter.value = ''
    follow()
  }
  // Esc lets go of what was pinned, then of what was chosen.
  selection.$onAction(({ name }) => {
    if (name !== 'clear') return
    if (moment.value !== null) follow()
    else selected.value = ''
  })

  const comparison = shallowRef<LocksCompare | null>(null)
  const compareNotice = shallowRef<Notice | null>(null)
  /** Wall ms at which the comparison that runs began. */
  const comparingSince = ref<number | null>(null)
  async function compare(): Promise<void> {
    if (comparingSince.value !== null) return
    if (connection.host === null) {
      compareNotice.value = noHost(NOT_COMPARED)
      return
    }
    comparingSince.value = Date.now()
    compareNotice.value = null
    try {
      comparison.value = await connection.host.api.locks.compare({ managers, seconds: COMPARE_S })
    } catch (error) {
      compareNotice.value = refusal(NOT_COMPARED, error)
    }
    comparingSince.value = null
  }

  return {
    ...{ plane, sort, filter, selected, moment, spanMs, cursorAtMs, middle, query },
    ...{ pin, follow, putCursor, setSpan, select, show },
    ...{ comparison, compareNotice, comparingSince, compare },
  }
})
