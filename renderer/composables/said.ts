/** What a key has done where nothing on the page shows it: told once, read out, and gone after a moment. */
import { ref } from 'vue'

export const said = ref('')
let timer: ReturnType<typeof setTimeout> | undefined

export function say(words: string): void {
  clearTimeout(timer)
  said.value = words
  timer = setTimeout(() => (said.value = ''), 4000)
}
