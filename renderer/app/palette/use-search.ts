/**
 * Search at the host: sent once typing pauses; a newer query cancels the previous one, and late results are dropped.
 */
import { onScopeDispose, shallowRef, watch, type Ref } from 'vue'
import type { Found } from '#core/api/search.ts'
import { useConnectionStore } from '../../stores/connection.ts'

const PAUSE_MS = 90
/** A single character matches nearly everything. */
const LEAST_CHARS = 2
/** Limit of the contract. */
const MOST_CHARS = 200
const NOTHING = { text: '', found: [] as readonly Found[], more: {} as Readonly<Record<string, number>> }

export function useSearch(text: Ref<string>) {
  const connection = useConnectionStore()
  const answer = shallowRef(NOTHING)
  const isOff = shallowRef(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let call: AbortController | undefined

  function stop(): void {
    clearTimeout(timer)
    call?.abort()
    call = undefined
  }
  async function ask(wanted: string): Promise<void> {
    const host = connection.host
    isOff.value = host === null
    if (host === null) return
    const mine = (call = new AbortController())
    try {
      const { found, more } = await host.api.search.find({ text: wanted, limit: 6 }, { signal: mine.signal })
      if (call === mine) answer.value = { text: wanted, found, more }
    } catch {
      if (call === mine) {
        isOff.value = true
        answer.value = { ...NOTHING, text: wanted }
      }
    }
  }
  watch(text, (next) => {
    stop()
    const wanted = next.trim().slice(0, MOST_CHARS)
    if (wanted.length < LEAST_CHARS) answer.value = NOTHING
    else timer = setTimeout(() => void ask(wanted), PAUSE_MS)
  })
  onScopeDispose(stop)
  return { answer, isOff }
}
