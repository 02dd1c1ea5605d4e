/**
 * Write permission of this window on the current cluster: unlock, take-over from another console, and global stop.
 * Their dialogs float above every view.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import type { StopResult } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSourceStore } from './source.ts'

const NOT_UNLOCKED = 'The cluster was not unlocked'
const NOT_CLEARING = 'Job statistics are not cleared after each period'
const NOT_STOPPED = 'Nothing was stopped'

/** Requested change of mode, of controller, or of both; null: unchanged. */
export interface ModeChange {
  readonly mode: StatusFrame['mode'] | null
  readonly controller: StatusFrame['controller'] | null
}

export const useEnforcementStore = defineStore('enforcement', () => {
  const connection = useConnectionStore()
  const source = useSourceStore()
  const isUnlockOpen = ref(false)
  const isStopOpen = ref(false)
  const isUnlocking = ref(false)
  const unlockNotice = shallowRef<Notice | null>(null)
  /** Mode to switch to after unlocking; null: unlock only. */
  const wanted = ref<StatusFrame['mode'] | null>(null)

  const untilMs = computed(() => source.frame?.unlockedUntilMs ?? null)
  /** True if writes on the current source need an unlock. */
  const needsUnlock = computed(() => source.frame?.source.kind === 'LIVE' && source.frame.safeMode === 'review+unlock')
  const isLocked = (): boolean => needsUnlock.value && (untilMs.value === null || untilMs.value <= Date.now())

  function openUnlock(then: StatusFrame['mode'] | null = null): void {
    wanted.value = then
    unlockNotice.value = null
    isUnlockOpen.value = true
  }
  /** Changes the mode, after asking for the unlock if that is required. */
  function setMode(mode: StatusFrame['mode']): void {
    if (mode === 'enforce' && isLocked()) openUnlock(mode)
    else void change(mode, false)
  }
  /** Change that waits for its confirmation; null: none. */
  const asked = shallowRef<ModeChange | null>(null)
  /**
   * Changes mode or controller. It is confirmed first if rules are written or removed by it; the unlock of a locked
   * cluster is a confirmation, too.
   */
  function requestChange(wanted: Partial<ModeChange>): void {
    const { frame } = source
    if (!frame) return
    const mode = wanted.mode ?? null
    const controller = wanted.controller ?? null
    const isSame = (mode ?? frame.mode) === frame.mode && (controller ?? frame.controller) === frame.controller
    const isWritten = frame.mode === 'enforce' || mode === 'enforce'
    const asksUnlock = mode === 'enforce' && frame.mode !== 'enforce' && isLocked()
    if (!isSame && isWritten && !asksUnlock) asked.value = { mode, controller }
    else void apply({ mode, controller })
  }
  async function apply({ mode, controller }: ModeChange): Promise<void> {
    if (controller !== null) await source.setController(controller)
    if (mode !== null) setMode(mode)
  }
  function confirmChange(): void {
    const change = asked.value
    asked.value = null
    if (change) void apply(change)
  }
  async function change(mode: StatusFrame['mode'], takeOver: boolean): Promise<void> {
    const refused = source.notices.find(isOtherConsole)
    // Dismisses the previous refusal; it is shown again if it still applies.
    if (refused) source.dismiss(refused)
    await source.setMode(mode, takeOver)
    unlockIfExpired(mode)
  }
  /** If the unlock has expired since the last frame, asks for it instead of showing the refusal. */
  function unlockIfExpired(mode: StatusFrame['mode']): void {
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
      if (wanted.value !== null) await change(wanted.value, false)
      return true
    } catch (error) {
      unlockNotice.value = refusal(NOT_UNLOCKED, error)
      return false
    } finally {
      isUnlocking.value = false
    }
  }
  const lock = (): Promise<void> => source.lock()

  /** Refusal that can be answered by taking over; null: none. */
  const takeOverNotice = shallowRef<Notice | null>(null)
  const isTakingOver = ref(false)
  const otherLeases = computed(() => source.frame?.otherLeases ?? [])
  const isOtherConsole = (notice: Notice): boolean => notice.code === 'OTHER_CONSOLE'
  function openTakeOver(notice: Notice): void {
    takeOverNotice.value = notice
  }
  async function takeOver(): Promise<void> {
    if (isTakingOver.value) return
    isTakingOver.value = true
    try {
      await change('enforce', true)
      takeOverNotice.value = null
    } finally {
      isTakingOver.value = false
    }
  }

  /** Dialog that confirms clearing of job_stats, and why it was refused. */
  const isClearingOpen = ref(false)
  const isStartingClearing = ref(false)
  const clearingNotice = shallowRef<Notice | null>(null)
  function openClearing(): void {
    clearingNotice.value = null
    isClearingOpen.value = true
  }
  async function startClearing(typed: string): Promise<void> {
    if (isStartingClearing.value) return
    if (connection.host === null) {
      clearingNotice.value = noHost(NOT_CLEARING)
      return
    }
    isStartingClearing.value = true
    try {
      await connection.host.api.source.startClearing({ typed })
      isClearingOpen.value = false
    } catch (error) {
      clearingNotice.value = refusal(NOT_CLEARING, error)
    } finally {
      isStartingClearing.value = false
    }
  }

  const isStopping = ref(false)
  const stopResult = shallowRef<StopResult | null>(null)
  const stopNotice = shallowRef<Notice | null>(null)
  const script = shallowRef<{ text: string; rules: number } | null>(null)
  const scriptNotice = shallowRef<Notice | null>(null)

  /** Opens the dialog and requests the script, which lists what would be removed; nothing is sent to servers. */
  async function openStop(): Promise<void> {
    isStopOpen.value = true
    stopResult.value = stopNotice.value = script.value = scriptNotice.value = null
    const what = 'The list of rules to remove was not loaded'
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
      // A lost connection does not imply anything about the servers.
      stopNotice.value =
        connection.host === host
          ? refusal(NOT_STOPPED, error)
          : {
              code: 'STOP_UNKNOWN',
              what: 'Lost connection to the Sluice host during the stop',
              why: 'commands sent before that remain in effect',
              next: 'Reopen this dialog when the Sluice host responds, or run the script on the servers.',
            }
    } finally {
      isStopping.value = false
    }
  }

  return {
    isClearingOpen,
    isStartingClearing,
    clearingNotice,
    openClearing,
    startClearing,
    isUnlockOpen,
    isUnlocking,
    unlockNotice,
    wanted,
    untilMs,
    needsUnlock,
    isLocked,
    openUnlock,
    setMode,
    asked,
    requestChange,
    confirmChange,
    unlock,
    lock,
    takeOverNotice,
    isTakingOver,
    otherLeases,
    isOtherConsole,
    openTakeOver,
    takeOver,
    isStopOpen,
    isStopping,
    stopResult,
    stopNotice,
    script,
    scriptNotice,
    openStop,
    stopAll,
  }
})
