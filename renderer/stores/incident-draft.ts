/** Unsaved input in incidents, by incident and cell, so that changing the view or a new frame loses nothing. */
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

/** Draft other than a cell: the title, or a new note or transcript. */
export type DraftPlace = 'title' | 'new note' | 'new transcript' | (string & {})

export interface TextDraft {
  readonly text: string
  /** Text when editing began: if it is different now, it was changed elsewhere meanwhile. */
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
  /** Starts a draft if there is none. */
  function begin(id: string, place: DraftPlace, base: string): void {
    if (find(id, place) === null) put(id, place, { text: base, base })
  }
  function write(id: string, place: DraftPlace, text: string): void {
    put(id, place, { base: find(id, place)?.base ?? '', text })
  }
  /** Accepts the current text as the one to be replaced. */
  function rebase(id: string, place: DraftPlace, base: string): void {
    const draft = find(id, place)
    if (draft !== null) put(id, place, { text: draft.text, base })
  }
  const drop = (id: string, place: DraftPlace): void => put(id, place, null)
  return { drafts, find, begin, write, rebase, drop }
})
