/** A note of the operator at an instant, kept with the history of the cluster. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useTimeStore } from './time.ts'

const NOT_KEPT = 'The note was not kept'
/** Longest note, characters. */
export const NOTE_MOST = 2000

export const useNoteStore = defineStore('note', () => {
  const [time, connection] = [useTimeStore(), useConnectionStore()]
  const isOpen = ref(false)
  const text = ref('')
  /** Where it will stand: the cursor when it was opened, so that it does not run away while it is written. */
  const atMs = ref<number | null>(null)
  const notice = shallowRef<Notice | null>(null)
  const isSending = ref(false)

  function open(): void {
    if (time.atMs === null) return
    atMs.value = time.atMs
    notice.value = null
    isOpen.value = true
  }
  async function keep(): Promise<boolean> {
    const words = text.value.trim()
    if (words === '' || atMs.value === null || isSending.value) return false
    const { host } = connection
    if (host === null) {
      notice.value = noHost(NOT_KEPT)
      return false
    }
    isSending.value = true
    try {
      await host.api.history.note({ atMs: atMs.value, text: words })
      text.value = ''
      notice.value = null
      isOpen.value = false
      return true
    } catch (error) {
      notice.value = refusal(NOT_KEPT, error)
      return false
    } finally {
      isSending.value = false
    }
  }
  /** Another source: what was being written is about the one before. */
  function reset(): void {
    isOpen.value = false
    text.value = ''
    notice.value = null
  }
  return { isOpen, text, atMs, notice, isSending, open, keep, reset }
})
