/**
 * Note of the operator at an instant: in the event lane, as a new incident, or in an open incident. Stored with the
 * history of the cluster or in the console's own folder; nothing is sent to a server.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { useConnectionStore } from './connection.ts'
import { useIncidentsStore } from './incidents.ts'
import { noHost, refusal } from './refusal.ts'
import { useTimeStore } from './time.ts'

const NOTE_NOT_KEPT = 'The note was not saved'
const NO_INSTANT = 'No samples yet'
/** Longest note in the event lane, in an incident, and longest title, characters. */
export const NOTE_MOST = 2000
export const NOTEBOOK_NOTE_MOST = 20_000
export const TITLE_MOST = 200

export type NoteWhere = 'note' | 'new' | 'add'

export const useNoteStore = defineStore('note', () => {
  const time = useTimeStore()
  const connection = useConnectionStore()
  const incidents = useIncidentsStore()
  const isOpen = ref(false)
  const where = ref<NoteWhere>('note')
  const text = ref('')
  const title = ref('')
  /** Instant of the note: the cursor when the dialog was opened. */
  const atMs = ref<number | null>(null)
  /** Incident that can be extended, as it was when the dialog was opened. */
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
  /** Reason why it cannot be saved; null if it can. */
  const fault = computed(() => {
    const length = text.value.trim().length
    if (where.value === 'note' && atMs.value === null) return NO_INSTANT
    if (length > most.value) return `${length} characters; the limit is ${most.value}`
    return length === 0 && where.value !== 'new' ? 'No text yet' : null
  })

  async function keepNote(body: string): Promise<boolean> {
    const { host } = connection
    if (host === null || atMs.value === null) {
      notice.value = noHost(NOTE_NOT_KEPT)
      return false
    }
    try {
      await host.api.history.note({ atMs: atMs.value, text: body })
      return true
    } catch (error) {
      notice.value = refusal(NOTE_NOT_KEPT, error)
      return false
    }
  }
  async function keepInNotebook(body: string): Promise<boolean> {
    const at = atMs.value
    const joined = where.value === 'add' ? joins.value : null
    const id = joined
      ? (await incidents.addCell(joined.id, { kind: 'note', text: body }, { atMs: at })) && joined.id
      : await incidents.create({ atMs: at, title: title.value.trim(), note: body })
    if (id === undefined) {
      notice.value = incidents.notice
      incidents.notice = null
      return false
    }
    incidents.filed = { id, text: joined ? `Added to ${id}` : `${id} created` }
    incidents.choose(id)
    return true
  }
  async function keep(): Promise<boolean> {
    if (fault.value !== null || isSending.value) return false
    const body = text.value.trim()
    isSending.value = true
    try {
      const isKept = await (where.value === 'note' ? keepNote(body) : keepInNotebook(body))
      if (isKept) reset()
      return isKept
    } finally {
      isSending.value = false
    }
  }
  /** Another source: the draft was about the previous one. */
  function reset(): void {
    isOpen.value = false
    text.value = title.value = ''
    notice.value = null
  }
  return { isOpen, where, text, title, atMs, joins, notice, isSending, most, fault, open, keep, reset }
})
