/**
 * The edits of this window that can be taken back: settings, filters, what is staged, variants and drafts, notebooks; in one
 * bounded list, the newest first. Nothing of it reaches a server: a change of a cluster is undone by its own inverse, in Rules.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

/** Where an edit belongs; a source that goes takes with it what was about it. */
export type EditRoom = 'settings' | 'jobs' | 'rules' | 'sandbox' | 'policies' | 'incidents' | 'views'

/** False: it could not be done, and whoever refused says why. */
type Act = () => unknown
export interface Edit {
  /** What was done, as it follows `Undo: `, for example `filter user:ana`. */
  readonly words: string
  readonly room: EditRoom
  readonly undo: Act
  readonly redo: Act
  /** Edits of the same name that follow each other quickly are one, as a text that is typed. */
  readonly joins?: string
}
interface Step extends Edit {
  readonly atMs: number
  /** A change of a cluster stands here: it is named once and not undone. */
  readonly isBarrier?: true
}
/** What is told of the last step. */
export interface Told {
  readonly words: string
  readonly kind: 'undone' | 'redone' | 'nothing' | 'refused' | 'cluster'
}

const MOST = 100
const JOIN_MS = 1500

export const useUndoStore = defineStore('undo', () => {
  const past = shallowRef<readonly Step[]>([])
  const future = shallowRef<readonly Step[]>([])
  const told = shallowRef<Told | null>(null)
  const isBusy = ref(false)
  let quiet = 0

  const next = computed(() => past.value.at(-1) ?? null)
  const nextRedo = computed(() => future.value.at(-1) ?? null)

  /** What happens within is no edit of the operator. */
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
  /** What was about something that is gone cannot be taken back any more. */
  function forget(...rooms: readonly EditRoom[]): void {
    const stays = (step: Step): boolean => !rooms.includes(step.room)
    past.value = past.value.filter(stays)
    future.value = future.value.filter(stays)
  }
  /** A cluster was changed: what had been staged for it is no edit any more, and the change itself is not undone here. */
  function committed(words: string): void {
    forget('rules')
    const barrier: Step = {
      ...{ words, room: 'rules', undo: () => false, redo: () => false },
      ...{ atMs: Date.now(), isBarrier: true },
    }
    past.value = [...past.value, barrier].slice(-MOST)
    future.value = []
  }

  async function step(from: typeof past, to: typeof past, act: 'undo' | 'redo'): Promise<boolean> {
    const edit = from.value.at(-1)
    if (isBusy.value) return false
    if (edit === undefined) {
      told.value = { kind: 'nothing', words: act === 'undo' ? 'Nothing to undo' : 'Nothing to redo' }
      return false
    }
    from.value = from.value.slice(0, -1)
    if (edit.isBarrier) {
      told.value = {
        kind: 'cluster',
        words: `${edit.words}. Changes of a cluster are undone in Rules, in the undo list (Z)`,
      }
      return false
    }
    isBusy.value = true
    try {
      const isDone = (await quietly(edit[act])) !== false
      if (isDone) to.value = [...to.value, { ...edit, atMs: 0 }].slice(-MOST)
      told.value = isDone
        ? {
            kind: act === 'undo' ? 'undone' : 'redone',
            words: `${act === 'undo' ? 'Undone' : 'Redone'}: ${edit.words}`,
          }
        : { kind: 'refused', words: `Not ${act === 'undo' ? 'undone' : 'redone'}: ${edit.words}` }
      return isDone
    } finally {
      isBusy.value = false
    }
  }
  const undo = (): Promise<boolean> => step(past, future, 'undo')
  const redo = (): Promise<boolean> => step(future, past, 'redo')

  return { past, future, told, isBusy, next, nextRedo, quietly, push, forget, committed, undo, redo }
})
