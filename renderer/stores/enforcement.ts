/**
 * How far this window may go on the cluster on screen: the unlock that enforce mode needs, and the global stop. What is open
 * of it floats above every view.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import type { StopResult } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSourceStore } from './source.ts'

const NOT_UNLOCKED = 'The cluster was not unlocked'
const NOT_STOPPED = 'Nothing was stopped'

export const useEnforcementStore = defineStore('enforcement', () => {
  const [connection, source] = [useConnectionStore(), useSourceStore()]
  const isUnlockOpen = ref(false)
  const isStopOpen = ref(false)
  const isUnlocking = ref(false)
  const unlockNotice = shallowRef<Notice | null>(null)
  /** Mode to take as soon as it is unlocked; null: the unlock alone was asked for. */
  const wanted = ref<StatusFrame['mode'] | null>(null)

  const untilMs = computed(() => source.frame?.unlockedUntilMs ?? null)
  /** Whether writes on the source on screen need an unlock at all. */
  const needsUnlock = computed(() => source.frame?.source.kind === 'LIVE' && source.frame.safeMode === 'review+unlock')
  const isLocked = (): boolean => needsUnlock.value && (untilMs.value === null || untilMs.value <= Date.now())

  function openUnlock(then: StatusFrame['mode'] | null = null): void {
    wanted.value = then
    unlockNotice.value = null
    isUnlockOpen.value = true
  }
  /** Changes the mode; where that needs the unlock, it is asked for first. */
  function setMode(mode: StatusFrame['mode']): void {
    if (mode === 'enforce' && isLocked()) openUnlock(mode)
    else void source.setMode(mode).then(() => askWhereLocked(mode))
  }
  /** It was locked after the frame that is on screen: the unlock is asked for in place of the refusal. */
  function askWhereLocked(mode: StatusFrame['mode']): void {
    const locked = source.notices.find((n) => n.code === 'LOCKED')
    if (!locked) return
    source.dismiss(locked)
    openUnlock(mode)
  }
  async function unlock(typed: string): Promise<boolean> {
    if (isUnlocking.value) return false
    if (connection.host === null) {
      unlockNotice.value = noHost(NOT_UNLOCKED)
      return false
    }
    isUnlocking.value = true
    try {
      const answer = await connection.host.api.source.unlock({ typed })
      source.unlocked(answer.untilMs)
      isUnlockOpen.value = false
      unlockNotice.value = null
      if (wanted.value !== null) await source.setMode(wanted.value)
      return true
    } catch (error) {
      unlockNotice.value = refusal(NOT_UNLOCKED, error)
      return false
    } finally {
      isUnlocking.value = false
    }
  }
  const lock = (): Promise<void> => source.lock()

  const isStopping = ref(false)
  const stopResult = shallowRef<StopResult | null>(null)
  const stopNotice = shallowRef<Notice | null>(null)
  const script = shallowRef<{ text: string; rules: number } | null>(null)
  const scriptNotice = shallowRef<Notice | null>(null)

  /** Opens the dialog and asks for the script, which says what would be removed; nothing is sent. */
  async function openStop(): Promise<void> {
    isStopOpen.value = true
    stopResult.value = stopNotice.value = script.value = scriptNotice.value = null
    const what = 'What would be removed could not be asked'
    try {
      if (connection.host === null) scriptNotice.value = noHost(what)
      else script.value = await connection.host.api.source.stopScript()
    } catch (error) {
      scriptNotice.value = refusal(what, error)
    }
  }
  async function stopAll(): Promise<void> {
    if (isStopping.value) return
    const { host } = connection
    if (host === null) {
      stopNotice.value = noHost(NOT_STOPPED)
      return
    }
    isStopping.value = true
    stopNotice.value = null
    try {
      stopResult.value = await host.api.source.stopAll()
    } catch (error) {
      // A line that broke says nothing about the servers.
      stopNotice.value =
        connection.host === host
          ? refusal(NOT_STOPPED, error)
          : {
              code: 'STOP_UNKNOWN',
              what: 'The line to the host broke while it was stopping',
              why: 'what it had sent by then stays sent',
              next: 'Open this again as soon as the host answers, or run the script on the servers.',
            }
    } finally {
      isStopping.value = false
    }
  }

  return {
    ...{ isUnlockOpen, isUnlocking, unlockNotice, wanted, untilMs, needsUnlock },
    ...{ isLocked, openUnlock, setMode, unlock, lock },
    ...{ isStopOpen, isStopping, stopResult, stopNotice, script, scriptNotice, openStop, stopAll },
  }
})
