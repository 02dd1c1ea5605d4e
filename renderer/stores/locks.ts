/**
 * Locks view: plane, table, selected resource and time range, its cursor, and the comparison of lock managers. Kept
 * while another view is shown.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { LockManagerName, LocksCompare, LocksPlane, LocksSort, LanesRange } from '#core/api/locks.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSelectionStore } from './selection.ts'

/** Selectable lengths of the time range, ms. */
export const spans = [5, 20, 60, 200, 1000] as const
const managers: LockManagerName[] = ['seqdlm', 'datatype', 'lustre', 'basic']
/** Covers two bursts of a checkpoint every eight seconds, s. */
const COMPARE_S = 10
const NOT_COMPARED = 'The lock managers were not compared'
/** Longest name of a selection in the contract. */
const SELECTED_MAX = 300

export const useLocksStore = defineStore('locks', () => {
  const connection = useConnectionStore()
  const selection = useSelectionStore()
  /** null: the first of the source. */
  const plane = ref<LocksPlane | null>(null)
  const sort = ref<LocksSort>('waiting')
  const filter = ref('')
  /** Key of a resource, or a namespace; empty: the most contended. */
  const selected = ref('')
  /** null: the peak of the queue in the last seconds. */
  const moment = shallowRef<LanesRange | null>(null)
  /** null: long enough to show the longest queue completely. */
  const spanMs = ref<number | null>(null)
  /** Position of the cursor, Unix ms; null: at the longest queue of the range. */
  const cursorAtMs = ref<number | null>(null)
  const middle = ref<'lanes' | 'messages' | 'values'>('lanes')

  const query = computed(() => ({
    plane: plane.value,
    sort: sort.value,
    filter: filter.value,
    moment: moment.value,
    spanMs: spanMs.value,
    selected: selected.value.length <= SELECTED_MAX ? selected.value : '',
  }))

  /** Pins a time range of a resource instead of following the peak of the queue. */
  function pin(resource: string, next: LanesRange): void {
    selected.value = resource
    moment.value = { endMs: next.endMs, spanMs: next.spanMs }
  }
  /** Follows the peak of the last seconds again. */
  function follow(): void {
    moment.value = null
    cursorAtMs.value = null
  }
  function putCursor(resource: string, at: LanesRange, atMs: number): void {
    pin(resource, at)
    cursorAtMs.value = atMs
  }
  /**
   * Changes the length, around the same center or the cursor; `shown` is the current range. null fits the longest
   * queue.
   */
  function setSpan(next: number | null, shown: LanesRange | null): void {
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
  // Esc clears the pinned range, then the selection.
  selection.$onAction(({ name }) => {
    if (name !== 'clear') return
    if (moment.value !== null) follow()
    else selected.value = ''
  })

  const comparison = shallowRef<LocksCompare | null>(null)
  const compareNotice = shallowRef<Notice | null>(null)
  /** Start of the running comparison, wall ms. */
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
    plane,
    sort,
    filter,
    selected,
    moment,
    spanMs,
    cursorAtMs,
    middle,
    query,
    pin,
    follow,
    putCursor,
    setSpan,
    select,
    show,
    comparison,
    compareNotice,
    comparingSince,
    compare,
  }
})
