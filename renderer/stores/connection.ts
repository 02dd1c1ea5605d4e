/**
 * Whether the window can reach its host. The transport (app/connect.ts) writes here; streams restart when `host`
 * changes, and everything already on screen stays there, dimmed, while there is none.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Host } from './client.ts'

export const useConnectionStore = defineStore('connection', () => {
  const host = shallowRef<Host | null>(null)
  const state = ref<'connecting' | 'open' | 'lost'>('connecting')
  const lostAtMs = ref<number | null>(null)
  const retryAtMs = ref<number | null>(null)
  const attempt = ref(0)
  /** Set by the transport: ends the wait for the next attempt. */
  const retryNow = shallowRef<() => void>(() => undefined)

  function opened(next: Host): void {
    host.value = next
    state.value = 'open'
    lostAtMs.value = retryAtMs.value = null
    attempt.value = 0
  }

  /** @param retryInMs  until the next attempt; null when there will be none. */
  function lost(retryInMs: number | null): void {
    host.value = null
    state.value = 'lost'
    lostAtMs.value ??= Date.now()
    attempt.value++
    retryAtMs.value = retryInMs === null ? null : Date.now() + retryInMs
  }

  const isLost = computed(() => state.value === 'lost')
  return { host, state, isLost, lostAtMs, retryAtMs, attempt, retryNow, opened, lost }
})
