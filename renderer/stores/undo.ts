/**
 * Undo list of this window: settings, filters, staged changes, variants, drafts and incidents; one bounded list, newest
 * first. Nothing of it reaches a server: a change of a cluster is rolled back in Rules.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

/** Area of an edit; a change of source drops the edits of some areas. */
export type EditArea = 'settings' | 'jobs' | 'rules' | 'sandbox' | 'policies' | 'incidents' | 'views'

/** False: it failed, and the reason is shown elsewhere. */
type Act = () => unknown
export interface Edit {
  /** Description that follows `Undo: `, for example `filter user:ana`. */
  readonly label: string
  readonly area: EditArea
  readonly undo: Act
  readonly redo: Act
  /** Quick successive edits with the same key are merged, as while typing. */
  readonly joins?: string
}
interface Step extends Edit {
  readonly atMs: number
  /** Marks a change of a cluster: it is shown once and cannot be undone here. */
  readonly isBarrier?: true
}
/** Message about the last step. */
export interface UndoMessage {
  readonly text: string
  readonly kind: 'undone' | 'redone' | 'nothing' | 'refused' | 'cluster'
}

const MOST = 100
const JOIN_MS = 1500

export const useUndoStore = defineStore('undo', () => {
  const past = shallowRef<readonly Step[]>([])
  const future = shallowRef<readonly Step[]>([])
  const message = shallowRef<UndoMessage | null>(null)
  const isBusy = ref(false)
  let quiet = 0

  const next = computed(() => past.value.at(-1) ?? null)
  const nextRedo = computed(() => future.value.at(-1) ?? null)

  /** Runs `act` without recording edits. */
  function quietly<T>(act: () => T): T {
    quiet++
    try {
      return act()
    } finally {
      quiet--
    }
  }
  function push(edit: Edit, atMs = Date.now()): void {
    if (quiet > 0) return
    const last = past.value.at(-1)
    const joined =
      last !== undefined && edit.joins !== undefined && last.joins === edit.joins && atMs - last.atMs < JOIN_MS
    const step: Step = { ...edit, ...(joined ? { undo: last.undo } : {}), atMs }
    past.value = [...(joined ? past.value.slice(0, -1) : past.value), step].slice(-MOST)
    future.value = []
  }
  /** Drops the edits of areas whose data is gone. */
  function forget(...areas: readonly EditArea[]): void {
    const stays = (step: Step): boolean => !areas.includes(step.area)
    past.value = past.value.filter(stays)
    future.value = future.value.filter(stays)
  }
  /** A cluster was changed: its staged edits are dropped, and the change itself cannot be undone here. */
  function committed(label: string): void {
    forget('rules')
    const barrier: Step = {
      label,
      area: 'rules',
      undo: () => false,
      redo: () => false,
      atMs: Date.now(),
      isBarrier: true,
    }
    past.value = [...past.value, barrier].slice(-MOST)
    future.value = []
  }

  async function step(from: typeof past, to: typeof past, act: 'undo' | 'redo'): Promise<boolean> {
    const edit = from.value.at(-1)
    if (isBusy.value) return false
    if (edit === undefined) {
      message.value = { kind: 'nothing', text: act === 'undo' ? 'Nothing to undo' : 'Nothing to redo' }
      return false
    }
    from.value = from.value.slice(0, -1)
    if (edit.isBarrier) {
      message.value = {
        kind: 'cluster',
        text: `${edit.label}. Cluster changes are reverted in Rules, under Change history (Z)`,
      }
      return false
    }
    isBusy.value = true
    try {
      const isDone = (await quietly(edit[act])) !== false
      if (isDone) to.value = [...to.value, { ...edit, atMs: 0 }].slice(-MOST)
      message.value = isDone
        ? {
            kind: act === 'undo' ? 'undone' : 'redone',
            text: `${act === 'undo' ? 'Undone' : 'Redone'}: ${edit.label}`,
          }
        : { kind: 'refused', text: `Not ${act === 'undo' ? 'undone' : 'redone'}: ${edit.label}` }
      return isDone
    } finally {
      isBusy.value = false
    }
  }
  const undo = (): Promise<boolean> => step(past, future, 'undo')
  const redo = (): Promise<boolean> => step(future, past, 'redo')

  return { past, future, message, isBusy, next, nextRedo, quietly, push, forget, committed, undo, redo }
})
