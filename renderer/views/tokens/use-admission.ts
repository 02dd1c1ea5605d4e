/** Admission checks of a form while it is edited: debounced, and only the newest answer counts. */
import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { TokensAdmission, TokensReserve } from '#core/api/tokens.ts'
import { useTokensStore } from '../../stores/tokens.ts'

const REST_MS = 120

/** @param asked  reservation to check; null if the input is not valid. */
export function useAdmission(asked: () => TokensReserve | null) {
  const view = useTokensStore()
  const admission = shallowRef<TokensAdmission | null>(null)
  const notice = shallowRef<Notice | null>(null)
  /** True while `admission` answers an older request. */
  const isAsking = ref(false)
  let question = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function ask(what: TokensReserve, mine: number): Promise<void> {
    const answer = await view.check(what)
    if (mine !== question) return
    isAsking.value = false
    if ('admit' in answer) {
      admission.value = answer
      notice.value = null
    } else {
      admission.value = null
      notice.value = answer
    }
  }
  watch(
    () => JSON.stringify(asked()),
    () => {
      const what = asked()
      const mine = ++question
      clearTimeout(timer)
      if (what === null) {
        isAsking.value = false
        admission.value = notice.value = null
        return
      }
      isAsking.value = true
      timer = setTimeout(() => void ask(what, mine), REST_MS)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    question++
    clearTimeout(timer)
  })
  return { admission, notice, isAsking }
}
