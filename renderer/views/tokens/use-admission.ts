/** Admission checks of a form while it is edited: debounced, and only the newest answer counts. */
import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { TokensAdmission, TokensReserve } from '#core/api/tokens.ts'
import { useTokensStore } from '../../stores/tokens.ts'

const REST_MS = 120

/** @param input  reservation to check; null if the input is not valid. */
export function useAdmission(input: () => TokensReserve | null) {
  const view = useTokensStore()
  const admission = shallowRef<TokensAdmission | null>(null)
  const notice = shallowRef<Notice | null>(null)
  /** True while `admission` answers an older request. */
  const isChecking = ref(false)
  let question = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function checkNow(what: TokensReserve, mine: number): Promise<void> {
    const answer = await view.check(what)
    if (mine !== question) return
    isChecking.value = false
    if ('admit' in answer) {
      admission.value = answer
      notice.value = null
    } else {
      admission.value = null
      notice.value = answer
    }
  }
  watch(
    () => JSON.stringify(input()),
    () => {
      const what = input()
      const mine = ++question
      clearTimeout(timer)
      if (what === null) {
        isChecking.value = false
        admission.value = notice.value = null
        return
      }
      isChecking.value = true
      timer = setTimeout(() => void checkNow(what, mine), REST_MS)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    question++
    clearTimeout(timer)
  })
  return { admission, notice, isChecking }
}
