/** The keys of commands as text, wherever the window prints them; they follow the keymap. */
import { computed, type ComputedRef } from 'vue'
import type { CommandId } from './catalogue.ts'
import { useKeymapStore } from './keymap.ts'
import { formatKeys, platform } from './keys.ts'

/** The first key of a command, as this platform writes it; empty where it has none. */
export function useKeyText(id: CommandId): ComputedRef<string> {
  const keymap = useKeymapStore()
  return computed(() => {
    const [keys] = keymap.keysOf(id)
    return keys === undefined ? '' : formatKeys(keys, platform)
  })
}
