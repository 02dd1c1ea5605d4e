/**
 * What an operator writes at an instant: a note in the event lane, a new incident, or a note in the notebook of one that is open.
 * All of it is kept with the history of the cluster or in the console's own folder; nothing is sent to a server.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { useConnectionStore } from './connection.ts'
import { useIncidentsStore } from './incidents.ts'
import { noHost, refusal } from './refusal.ts'
import { useTimeStore } from './time.ts'

const [NOTE_NOT_KEPT, NO_INSTANT] = ['The note was not kept', 'There is no sample yet that it could stand at']
/** Longest note in the event lane, in a notebook, and longest title, characters. */
export const NOTE_MOST = 2000
export const NOTEBOOK_NOTE_MOST = 20_000
export const TITLE_MOST = 200

export type NoteWhere = 'note' | 'new' | 'add'

export const useNoteStore = defineStore('note', () => {
  const [time, connection, incidents] = [useTimeStore(), useConnectionStore(), useIncidentsStore()]
  const isOpen = ref(false)
  const where = ref<NoteWhere>('note')
  const text = ref('')
  const title = ref('')
  /** Where it will stand: the cursor when it was opened, so that it does not run away while it is written. */
  const atMs = ref<number | null>(null)
  /** Notebook that can be added to, as it was when the dialog was opened. */
  const joins = shallowRef<{ id: string; title: string } | null>(null)
  const notice = shallowRef<Notice | null>(null)
  const isSending = ref(false)

  function open(at: NoteWhere = 'note'): void {
    if (time.atMs === null && at === 'note') return
    atMs.value = time.atMs
    const { current } = incidents
    joins.value = current === null ? null : { id: current.id, title: current.title }
    where.value = at === 'add' && current === null ? 'new' : at
    notice.value = null
    isOpen.value = true
  }
  const most = computed(() => (where.value === 'note' ? NOTE_MOST : NOTEBOOK_NOTE_MOST))
  /** Why it cannot be kept; null when it can. */
  const fault = computed(() => {
    const length = text.value.trim().length
    if (where.value === 'note' && atMs.value === null) return NO_INSTANT
    if (length > most.value) return `It has ${length} characters; ${most.value} are taken here`
    return length === 0 && where.value !== 'new' ? 'There is nothing in it yet' : null
  })

  async function keepNote(words: string): Promise<boolean> {
    const { host } = connection
    if (host === null || atMs.value === null) {
      notice.value = noHost(NOTE_NOT_KEPT)
      return false
    }
    try {
      await host.api.history.note({ atMs: atMs.value, text: words })
      return true
    } catch (error) {
      notice.value = refusal(NOTE_NOT_KEPT, error)
      return false
    }
  }
  async function keepInNotebook(words: string): Promise<boolean> {
    const at = atMs.value
    const joined = where.value === 'add' ? joins.value : null
    const id = joined
      ? (await incidents.addCell(joined.id, { kind: 'note', text: words }, { atMs: at })) && joined.id
      : await incidents.create({ atMs: at, title: title.value.trim(), note: words })
    if (id === undefined) {
      notice.value = incidents.notice
      incidents.notice = null
      return false
    }
    incidents.filed = { id, words: joined ? `Added to ${id}` : `${id} was opened` }
    incidents.choose(id)
    return true
  }
  async function keep(): Promise<boolean> {
    if (fault.value !== null || isSending.value) return false
    const words = text.value.trim()
    isSending.value = true
    try {
      const isKept = await (where.value === 'note' ? keepNote(words) : keepInNotebook(words))
      if (isKept) reset()
      return isKept
    } finally {
      isSending.value = false
    }
  }
  /** Another source: what was being written is about the one before. */
  function reset(): void {
    isOpen.value = false
    text.value = title.value = ''
    notice.value = null
  }
  return { isOpen, where, text, title, atMs, joins, notice, isSending, most, fault, open, keep, reset }
})
