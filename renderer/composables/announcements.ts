/** Result of a key press that is not visible on the page: shown briefly and announced to screen readers. */
import { ref } from 'vue'

export const announcement = ref('')
let timer: ReturnType<typeof setTimeout> | undefined

export function announce(text: string): void {
  clearTimeout(timer)
  announcement.value = text
  timer = setTimeout(() => (announcement.value = ''), 4000)
}
