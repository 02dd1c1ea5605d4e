/** False in the first frame of a component, true from the second on: defers large content to a task of its own. */
import { onMounted, onScopeDispose, ref, type Ref } from 'vue'

export function useSecondFrame(): Readonly<Ref<boolean>> {
  const isSecond = ref(false)
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  onMounted(() => {
    frame = requestAnimationFrame(() => {
      timer = setTimeout(() => (isSecond.value = true))
    })
  })
  onScopeDispose(() => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  })
  return isSecond
}
