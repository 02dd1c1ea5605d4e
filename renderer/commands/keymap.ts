/** Keymap: keys of each command, from the catalogue or chosen by the operator. Kept in the browser's storage. */
import { defineStore } from 'pinia'
import { computed, markRaw, ref, toRaw, watch } from 'vue'
import { catalogue, type CommandId } from './catalogue.ts'
import type { CommandEntry } from './command.ts'
import { faultOf, faultsOf, KEYS_MOST, type KeyFault } from './conflicts.ts'
import { exportKeymap, importKeymap, storedKeys, validKeys, type ChosenKeys, type Imported } from './keymap-text.ts'
import { isClash } from './keys.ts'

const KEY = 'sluice.keymap'

function stored(): ChosenKeys {
  try {
    const read = storedKeys.safeParse(JSON.parse(localStorage.getItem(KEY) ?? '{}'))
    return read.success ? validKeys(read.data) : {}
  } catch {
    return {} // storage may be off or hold something else: the defaults do
  }
}
const entryOf = new Map<string, CommandEntry>(catalogue.map((c) => [c.id, c]))
/** Read by every key press and every row of the list of keys, so its entries are not reactive. */
const mapOf = (chosen: ChosenKeys): Map<string, readonly string[]> =>
  markRaw(new Map(catalogue.map((c) => [c.id, toRaw(chosen[c.id]) ?? c.keys])))

export const useKeymapStore = defineStore('keymap', () => {
  /** Chosen keys by command; an empty list removes a command's keys. */
  const chosen = ref(stored())
  watch(
    chosen,
    (value) => {
      try {
        localStorage.setItem(KEY, JSON.stringify(value))
      } catch {
        // storage may be full or off: the choice then lasts for this visit
      }
    },
    { deep: true },
  )
  const byId = computed(() => mapOf(chosen.value))
  const keysOf = (id: CommandId): readonly string[] => byId.value.get(id) ?? []

  /** Drops entries equal to the catalogue's. */
  function plain(next: ChosenKeys): ChosenKeys {
    const differs = ([id, keys]: [string, string[]]): boolean => entryOf.get(id)?.keys.join('\n') !== keys.join('\n')
    return Object.fromEntries(Object.entries(next).filter(differs))
  }
  /** Keymap after a change of several commands at once, and its first fault. */
  function tried(change: ChosenKeys): { next: ChosenKeys; fault: KeyFault | null } {
    const next = plain({ ...chosen.value, ...change })
    const changed = catalogue.filter((c) => change[c.id] !== undefined)
    const faults = faultsOf(catalogue, mapOf(next), changed)
    const fault = Object.keys(change)
      .map((id) => faults.get(id))
      .find((f) => f !== undefined)
    return { next, fault: fault ?? null }
  }
  function attempt(change: ChosenKeys): KeyFault | null {
    const { next, fault } = tried(change)
    if (fault === null) chosen.value = next
    return fault
  }

  /** Keys of a command with `keys` replacing `instead`, or added if that is null. */
  function withKeys(id: CommandId, keys: string, instead: string | null): string[] {
    const others = keysOf(id).filter((k) => k !== keys && k !== instead)
    const at = instead === null ? others.length : Math.max(0, keysOf(id).indexOf(instead))
    return others.toSpliced(Math.min(at, others.length), 0, keys)
  }
  /** Returns why a command cannot have `keys`, or null. */
  function check(id: CommandId, keys: string, instead: string | null = null): KeyFault | null {
    const next = withKeys(id, keys, instead)
    const own = next.find((k) => k !== keys && isClash(k, keys))
    const entry = entryOf.get(id)
    if (!entry) return null
    if (own !== undefined)
      return { code: 'CONFLICT', why: 'ambiguous with another key of this command', other: entry, otherKeys: own }
    if (next.length > KEYS_MOST) return { code: 'TOO_MANY', why: `a command has at most ${KEYS_MOST} keys` }
    return faultOf(entry, keys, catalogue, byId.value)
  }
  /** Gives a command a key, replacing one of its own or in addition. */
  const choose = (id: CommandId, keys: string, instead: string | null = null): KeyFault | null =>
    check(id, keys, instead) ?? attempt({ [id]: withKeys(id, keys, instead) })
  /** Removes one key of a command. */
  const remove = (id: CommandId, keys: string): KeyFault | null =>
    entryOf.get(id)?.isFixed
      ? { code: 'FIXED', why: 'this command has a fixed key' }
      : attempt({ [id]: keysOf(id).filter((k) => k !== keys) })

  /** Commands that conflict with `keys`, with their remaining keys; null if one of them cannot give it up. */
  function without(id: CommandId, keys: string): Map<CommandId, string[]> | null {
    const left = new Map<CommandId, string[]>()
    const map = mapOf(chosen.value)
    for (;;) {
      const fault = faultOf(entryOf.get(id)!, keys, catalogue, map)
      if (fault === null) return left
      if (fault.code !== 'CONFLICT' || fault.other.isFixed) return null
      // Only entries of the catalogue are compared.
      const other = fault.other.id as CommandId
      const rest = (map.get(other) ?? []).filter((k) => k !== fault.otherKeys)
      map.set(other, rest)
      left.set(other, rest)
    }
  }
  /** Gives the key to a command and removes it from all others. */
  function take(id: CommandId, keys: string, instead: string | null = null): KeyFault | null {
    const left = without(id, keys)
    if (left === null) return check(id, keys, instead)
    return attempt({ ...Object.fromEntries(left), [id]: withKeys(id, keys, instead) })
  }
  function swapOf(id: CommandId, keys: string, instead: string): ChosenKeys | null {
    const left = [...(without(id, keys) ?? [])]
    const [other, rest] = left[0] ?? []
    if (other === undefined || rest === undefined || left.length > 1) return null
    return { [other]: [...rest, instead], [id]: withKeys(id, keys, instead) }
  }
  /** Gives the key to a command, and `instead` to the command that had it. */
  function swap(id: CommandId, keys: string, instead: string): KeyFault | null {
    const change = swapOf(id, keys, instead)
    return change === null ? check(id, keys, instead) : attempt(change)
  }
  /** True if `swap` would succeed. */
  function canSwap(id: CommandId, keys: string, instead: string | null): boolean {
    const change = instead === null ? null : swapOf(id, keys, instead)
    return change !== null && tried(change).fault === null
  }
  /** Restores the default keys; refused if another command uses one of them by now. */
  const reset = (id: CommandId): KeyFault | null => attempt({ [id]: [...(entryOf.get(id)?.keys ?? [])] })
  const resetAll = (): void => void (chosen.value = {})
  const isChanged = (id: string): boolean => chosen.value[id] !== undefined

  const exportText = (): string => exportKeymap(chosen.value)
  /** Imports an exported keymap, completely or not at all. */
  function importText(text: string): Imported {
    const read = importKeymap(text)
    if (read.ok) chosen.value = plain(read.chosen)
    return read
  }
  return {
    chosen,
    byId,
    keysOf,
    isChanged,
    check,
    choose,
    remove,
    take,
    swap,
    canSwap,
    reset,
    resetAll,
    exportText,
    importText,
  }
})
