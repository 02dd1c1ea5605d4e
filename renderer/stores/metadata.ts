/**
 * Metadata view: plane and scope, selection in the hierarchy, and the request that changes a controller. Kept while
 * another view is shown.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { MetadataFrame, PadllChange, PadllPlane } from '#core/api/padll.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSelectionStore } from './selection.ts'

const NOT_CHANGED = 'The controller was not changed'
/** Longest delay of a frame from before a change: a control cycle, a sample, a frame; ms. */
const UNDER_WAY_MS = 3000
/** Longest name of a selection in the contract. */
const SELECTED_MAX = 300

type Settings = Omit<PadllChange, 'plane'>

/** Applies settings accepted by the host to a frame that does not contain them yet. */
export function withAccepted(frame: MetadataFrame, plane: PadllPlane, { limit, ...settings }: Settings): MetadataFrame {
  if (frame.plane !== plane) return frame
  const named = Object.fromEntries(Object.entries(settings).filter(([, v]) => v !== undefined))
  return {
    ...frame,
    controller: { ...frame.controller, ...named },
    limit: limit?.scope === frame.scope ? limit.rate : frame.limit,
  }
}

export const useMetadataStore = defineStore('metadata', () => {
  const connection = useConnectionStore()
  const selection = useSelectionStore()
  /** null: the first of the source. */
  const plane = ref<PadllPlane | null>(null)
  /** Empty: the first with a limit or a policy. */
  const scope = ref('')
  /** Filters stages, channels and jobs. */
  const filter = ref('')
  /** Key of the hierarchy row whose channels are shown; empty: those of the selected job, else all. */
  const row = ref('')
  /** Keys of collapsed rows. */
  const closed = shallowRef<ReadonlySet<string>>(new Set())
  const isEditorOpen = ref(false)
  const side = ref<'text' | 'form'>('text')
  /** Refusal of the last change. */
  const notice = shallowRef<Notice | null>(null)

  /** Entity whose channels are shown. */
  const selected = computed(() => {
    const name = row.value !== '' ? row.value : selection.jobId === null ? '' : `job:${selection.jobId}`
    return name.length <= SELECTED_MAX ? name : ''
  })
  /** @param jobId  job of a stage: becomes the window's selection. */
  function selectRow(key: string, jobId: string): void {
    row.value = key
    if (jobId !== '') selection.select(jobId)
    else selection.jobId = null
  }
  function selectJob(jobId: string): void {
    row.value = ''
    selection.select(jobId)
  }
  function clear(): void {
    row.value = ''
    selection.jobId = null
  }
  // Esc clears every selection, including this one.
  selection.$onAction(({ name }) => {
    if (name === 'clear') row.value = ''
  })
  function setOpen(key: string, isOpen: boolean): void {
    const next = new Set(closed.value)
    if (isOpen) next.delete(key)
    else next.add(key)
    closed.value = next
  }
  /** Another plane has other rows and scopes. */
  function show(next: PadllPlane): void {
    if (next === plane.value) return
    plane.value = next
    scope.value = row.value = ''
  }

  const agreed = shallowRef<{ plane: PadllPlane; settings: Settings; untilMs: number } | null>(null)
  async function change(on: PadllPlane, settings: Settings): Promise<boolean> {
    try {
      if (connection.host === null) {
        notice.value = noHost(NOT_CHANGED)
        return false
      }
      await connection.host.api.padll.change({ plane: on, ...settings })
      const before = agreed.value?.plane === on ? agreed.value.settings : {}
      agreed.value = { plane: on, settings: { ...before, ...settings }, untilMs: Date.now() + UNDER_WAY_MS }
      notice.value = null
      return true
    } catch (error) {
      notice.value = refusal(NOT_CHANGED, error)
      return false
    }
  }
  /** Called for a new frame: changes accepted longer ago are in it, or have been reverted since. */
  function arrived(): void {
    if (agreed.value !== null && Date.now() > agreed.value.untilMs) agreed.value = null
  }
  const settled = (frame: MetadataFrame): MetadataFrame =>
    agreed.value === null ? frame : withAccepted(frame, agreed.value.plane, agreed.value.settings)

  return {
    plane,
    scope,
    filter,
    row,
    closed,
    isEditorOpen,
    side,
    notice,
    selected,
    selectRow,
    selectJob,
    clear,
    setOpen,
    show,
    change,
    arrived,
    settled,
  }
})
