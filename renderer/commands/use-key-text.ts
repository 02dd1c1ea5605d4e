/** Keys of commands as text, for display; updated with the keymap. */
import { computed, type ComputedRef } from 'vue'
import type { CommandId } from './catalogue.ts'
import { useKeymapStore } from './keymap.ts'
import { formatKeys, platform } from './keys.ts'

/** First key of a command in the platform's notation; empty if it has none. */
export function useKeyText(id: CommandId): ComputedRef<string> {
  const keymap = useKeymapStore()
  return computed(() => {
    const [keys] = keymap.keysOf(id)
    return keys === undefined ? '' : formatKeys(keys, platform)
  })
}
