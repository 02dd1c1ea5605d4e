/** Result of a key press that is not visible on the page: shown briefly and announced to screen readers. */
import { ref } from 'vue'

export const said = ref('')
let timer: ReturnType<typeof setTimeout> | undefined

export function say(words: string): void {
  clearTimeout(timer)
  said.value = words
  timer = setTimeout(() => (said.value = ''), 4000)
}
