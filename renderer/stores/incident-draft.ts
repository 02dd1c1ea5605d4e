/**
 * What is being written into notebooks and is not kept yet: by incident and cell, so that a view that goes and comes back, and a
 * frame that arrives meanwhile, loses no letter of it.
 */
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

/** In the place of a cell: the title, a note or a transcript that is no cell yet. */
export type DraftPlace = 'title' | 'new note' | 'new transcript' | (string & {})

export interface TextDraft {
  readonly text: string
  /** What stood there when writing began: where it is another one now, somebody else has written meanwhile. */
  readonly base: string
}

export const useIncidentDraftStore = defineStore('incident-draft', () => {
  const drafts = shallowRef<ReadonlyMap<string, TextDraft>>(new Map())
  const key = (id: string, place: DraftPlace): string => `${id} ${place}`
  function put(id: string, place: DraftPlace, draft: TextDraft | null): void {
    const next = new Map(drafts.value)
    if (draft === null) next.delete(key(id, place))
    else next.set(key(id, place), draft)
    drafts.value = next
  }
  const find = (id: string, place: DraftPlace): TextDraft | null => drafts.value.get(key(id, place)) ?? null
  /** Begins where nothing is written yet. */
  function begin(id: string, place: DraftPlace, base: string): void {
    if (find(id, place) === null) put(id, place, { text: base, base })
  }
  function write(id: string, place: DraftPlace, text: string): void {
    put(id, place, { base: find(id, place)?.base ?? '', text })
  }
  /** What stands there now is known, and is to be replaced. */
  function rebase(id: string, place: DraftPlace, base: string): void {
    const draft = find(id, place)
    if (draft !== null) put(id, place, { text: draft.text, base })
  }
  const drop = (id: string, place: DraftPlace): void => put(id, place, null)
  return { drafts, find, begin, write, rebase, drop }
})
