/**
 * State of the connection to the host. The transport (app/connect.ts) writes here; streams restart when `host` changes,
 * and everything on screen stays, dimmed, while there is none.
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
  /** The console does not accept the key of this tab; waiting does not help. */
  const needsAddress = ref(false)
  /** Set by the transport: skips the wait for the next attempt. */
  const retryNow = shallowRef<() => void>(() => undefined)

  function opened(next: Host): void {
    host.value = next
    state.value = 'open'
    needsAddress.value = false
    lostAtMs.value = retryAtMs.value = null
    attempt.value = 0
  }

  /** @param retryInMs  until the next attempt; null if there will be none. */
  function lost(retryInMs: number | null): void {
    host.value = null
    state.value = 'lost'
    lostAtMs.value ??= Date.now()
    attempt.value++
    retryAtMs.value = retryInMs === null ? null : Date.now() + retryInMs
    needsAddress.value = false
  }

  /** The console does not accept the key of this tab: open a new address. */
  function refused(): void {
    lost(null)
    needsAddress.value = true
  }

  const isLost = computed(() => state.value === 'lost')
  return { host, state, isLost, needsAddress, lostAtMs, retryAtMs, attempt, retryNow, opened, lost, refused }
})
