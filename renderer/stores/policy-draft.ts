/**
 * Draft of the policy text. The text is authoritative; the form reads and edits its lines. It is checked by the host
 * shortly after the last key press, and only the response to the newest request counts. A draft survives closing the
 * view, a refusal and a change of plane; only applying or discarding ends it.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { POLICIES_MAX, type PadllPlane, type PoliciesCheck } from '#core/api/padll.ts'
import { formatNumber } from '../format/units.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useUndoStore } from './undo.ts'

const DEBOUNCE_MS = 150
const NOT_CHECKED = 'The policies were not checked'
const NOT_APPLIED = 'The policies were not applied'

export interface PolicyDraft {
  readonly plane: PadllPlane
  readonly text: string
  /** Text in force when the draft was started. */
  readonly base: string
  readonly isTouched: boolean
}

export const usePolicyDraftStore = defineStore('policy-draft', () => {
  const connection = useConnectionStore()
  const undo = useUndoStore()
  const draft = shallowRef<PolicyDraft | null>(null)
  /** Drafts of planes that are not shown. */
  const kept = new Map<PadllPlane, PolicyDraft>()
  /** Newest result of a check, and the text it applies to. */
  const check = shallowRef<PoliciesCheck | null>(null)
  const checkedText = ref('')
  const notice = shallowRef<Notice | null>(null)
  const isChecking = ref(false)
  const isApplying = ref(false)
  /** Text in force in the last frame. */
  const inForce = ref<string | null>(null)
  /** Number of texts applied from here; reset by the next edit, which hides the message. */
  const applied = ref(0)

  const isFresh = computed(() => check.value !== null && !isChecking.value && checkedText.value === draft.value?.text)
  const errors = computed(() => check.value?.faults.filter((f) => f.severity === 'error').length ?? 0)
  const isSame = computed(() => check.value?.diff.every(({ op }) => op === 'keep') ?? true)
  /** The text in force was changed elsewhere since this draft was started. */
  const isOvertaken = computed(
    () => draft.value?.isTouched === true && inForce.value !== null && inForce.value !== draft.value.base,
  )
  const canApply = computed(
    () =>
      isFresh.value &&
      errors.value === 0 &&
      !isSame.value &&
      !isApplying.value &&
      draft.value?.isTouched === true &&
      check.value?.planId !== '',
  )

  let latest = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function send(mine: number): Promise<void> {
    const now = draft.value
    if (now === null || mine !== latest) return
    try {
      if (connection.host === null) {
        notice.value = noHost(NOT_CHECKED)
        return
      }
      const answer = await connection.host.api.padll.check({ plane: now.plane, text: now.text })
      if (mine !== latest) return
      check.value = answer
      checkedText.value = now.text
    } catch (error) {
      if (mine === latest) notice.value = refusal(NOT_CHECKED, error)
    } finally {
      if (mine === latest) isChecking.value = false
    }
  }
  function requestCheck(delayMs = DEBOUNCE_MS, isQuiet = false): void {
    const mine = ++latest
    clearTimeout(timer)
    const length = draft.value?.text.length ?? 0
    if (length > POLICIES_MAX) {
      isChecking.value = false
      notice.value = {
        code: 'TOO_LONG',
        what: NOT_CHECKED,
        why: `the text has ${formatNumber(length)} characters, the limit is ${formatNumber(POLICIES_MAX)}`,
      }
      return
    }
    if (notice.value?.code === 'TOO_LONG') notice.value = null
    isChecking.value = !isQuiet
    timer = setTimeout(() => void send(mine), delayMs)
  }
  function begin(next: PolicyDraft): void {
    draft.value = next
    check.value = notice.value = null
    checkedText.value = ''
    requestCheck(0)
  }

  /** Opens the draft of a plane: the stored one, else the text in force. */
  function open(plane: PadllPlane, text: string): void {
    if (draft.value?.plane === plane) return
    if (draft.value?.isTouched) kept.set(draft.value.plane, draft.value)
    inForce.value = text
    const left = kept.get(plane)
    kept.delete(plane)
    begin(left ?? { plane, text, base: text, isTouched: false })
  }
  /** The text in force has changed: an unedited draft takes it over, an edited one is compared with it again. */
  function follow(plane: PadllPlane, text: string): void {
    const now = draft.value
    if (now === null || now.plane !== plane || text === inForce.value) return
    inForce.value = text
    if (!now.isTouched && now.text !== text) draft.value = { ...now, text, base: text }
    else if (!now.isTouched) draft.value = { ...now, base: text }
    requestCheck(0)
  }
  function edit(text: string): void {
    if (draft.value === null || text === draft.value.text) return
    draft.value = { ...draft.value, text, isTouched: true }
    applied.value = 0
    requestCheck()
  }
  /** Drops all drafts: they were for another source. */
  function reset(): void {
    latest++
    clearTimeout(timer)
    kept.clear()
    draft.value = check.value = notice.value = inForce.value = null
    isChecking.value = false
  }
  /** Restores a text of the draft, for undo; the draft of another plane is not changed. */
  function put(plane: PadllPlane, text: string): boolean {
    if (draft.value?.plane !== plane) return false
    edit(text)
    return true
  }
  function discard(): void {
    if (draft.value === null) return
    const { plane, text: written, isTouched } = draft.value
    if (isTouched) {
      undo.push({
        area: 'policies',
        label: 'discard of the policy draft',
        undo: () => put(plane, written),
        redo: () => draft.value?.plane === plane && (discard(), true),
      })
    }
    const text = inForce.value ?? draft.value.base
    begin({ plane: draft.value.plane, text, base: text, isTouched: false })
  }

  /**
   * Applies the checked text. On failure the text stays in the editor, with the host's message. @param typed
   * confirmation.
   */
  async function apply(typed: string): Promise<boolean> {
    const now = draft.value
    const answer = check.value
    if (!canApply.value || now === null || answer === null) return false
    if (connection.host === null) {
      notice.value = noHost(NOT_APPLIED)
      return false
    }
    const { host } = connection
    isApplying.value = true
    notice.value = null
    try {
      await host.api.padll.apply({ plane: now.plane, text: now.text, planId: answer.planId, typed })
      applied.value++
      undo.committed('Policies applied')
      // Input typed during the request stays a draft.
      if (draft.value === now) draft.value = { ...now, base: now.text, isTouched: false }
      else if (draft.value !== null) draft.value = { ...draft.value, base: now.text }
      requestCheck(0)
      return true
    } catch (error) {
      notice.value =
        connection.host === host
          ? refusal(NOT_APPLIED, error)
          : {
              code: 'APPLY_UNKNOWN',
              what: 'Lost connection to the Sluice host while applying the policies',
              unaffected: 'the draft',
              next: 'Check whether the text in force has changed.',
            }
      requestCheck(0)
      return false
    } finally {
      isApplying.value = false
    }
  }
  /** Checks the same text again: jobs come and go. */
  const recheck = (): void => {
    if (isFresh.value && !isApplying.value) requestCheck(0, true)
  }
  watch(
    () => connection.host,
    (host) => {
      if (host === null || draft.value === null) return
      if (notice.value?.code === 'NO_HOST') notice.value = null
      requestCheck(0)
    },
  )
  return {
    draft,
    check,
    checkedText,
    notice,
    isChecking,
    isApplying,
    isFresh,
    isSame,
    isOvertaken,
    canApply,
    errors,
    inForce,
    applied,
    open,
    follow,
    edit,
    put,
    reset,
    discard,
    apply,
    recheck,
  }
})
