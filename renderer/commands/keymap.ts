/** Which keys each command has: those of the catalogue, or what the operator chose instead. Kept in the browser's storage. */
import { defineStore } from 'pinia'
import { computed, markRaw, ref, toRaw, watch } from 'vue'
import { catalogue, type CommandId } from './catalogue.ts'
import type { CommandEntry } from './command.ts'
import { faultOf, faultsOf, KEYS_MOST, type KeyFault } from './conflicts.ts'
import { exportKeymap, importKeymap, keptKeys, soundKeys, type ChosenKeys, type Imported } from './keymap-text.ts'
import { isClash } from './keys.ts'

const KEY = 'sluice.keymap'

function stored(): ChosenKeys {
  try {
    const read = keptKeys.safeParse(JSON.parse(localStorage.getItem(KEY) ?? '{}'))
    return read.success ? soundKeys(read.data) : {}
  } catch {
    return {} // storage may be off or hold something else: the defaults do
  }
}
const entryOf = new Map<string, CommandEntry>(catalogue.map((c) => [c.id, c]))
/** Read by every key press and every row of the list of keys, so nothing of it is watched by itself. */
const mapOf = (chosen: ChosenKeys): Map<string, readonly string[]> =>
  markRaw(new Map(catalogue.map((c) => [c.id, toRaw(chosen[c.id]) ?? c.keys])))

export const useKeymapStore = defineStore('keymap', () => {
  /** Keys that were chosen, by command; an empty list takes a command's keys away. */
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

  /** Without entries that say what the catalogue says. */
  function plain(next: ChosenKeys): ChosenKeys {
    const differs = ([id, keys]: [string, string[]]): boolean => entryOf.get(id)?.keys.join('\n') !== keys.join('\n')
    return Object.fromEntries(Object.entries(next).filter(differs))
  }
  /** The keymap with a change of several commands at once, and what stands against it. */
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

  /** Keys of a command with `keys` in the place of `instead`, or beside those that it has. */
  function withKeys(id: CommandId, keys: string, instead: string | null): string[] {
    const others = keysOf(id).filter((k) => k !== keys && k !== instead)
    const at = instead === null ? others.length : Math.max(0, keysOf(id).indexOf(instead))
    return others.toSpliced(Math.min(at, others.length), 0, keys)
  }
  /** What stands against `keys` for a command; null where nothing does. */
  function check(id: CommandId, keys: string, instead: string | null = null): KeyFault | null {
    const next = withKeys(id, keys, instead)
    const own = next.find((k) => k !== keys && isClash(k, keys))
    const entry = entryOf.get(id)
    if (!entry) return null
    if (own !== undefined)
      return { code: 'CONFLICT', why: 'its own keys cannot be told apart', other: entry, otherKeys: own }
    if (next.length > KEYS_MOST) return { code: 'TOO_MANY', why: `a command has at most ${KEYS_MOST} keys` }
    return faultOf(entry, keys, catalogue, byId.value)
  }
  /** Gives a command a key, in the place of another one of its own or beside them. */
  const choose = (id: CommandId, keys: string, instead: string | null = null): KeyFault | null =>
    check(id, keys, instead) ?? attempt({ [id]: withKeys(id, keys, instead) })
  /** Takes one key of a command away. */
  const remove = (id: CommandId, keys: string): KeyFault | null =>
    entryOf.get(id)?.isFixed
      ? { code: 'FIXED', why: 'its key means the same everywhere' }
      : attempt({ [id]: keysOf(id).filter((k) => k !== keys) })

  /** Everyone in the way of `keys` for a command, with what is left to them; null where one of them cannot give it up. */
  function without(id: CommandId, keys: string): Map<CommandId, string[]> | null {
    const left = new Map<CommandId, string[]>()
    const map = mapOf(chosen.value)
    for (;;) {
      const fault = faultOf(entryOf.get(id)!, keys, catalogue, map)
      if (fault === null) return left
      if (fault.code !== 'CONFLICT' || fault.other.isFixed) return null
      const other = fault.other.id
      const rest = (map.get(other) ?? []).filter((k) => k !== fault.otherKeys)
      map.set(other, rest)
      left.set(other, rest)
    }
  }
  /** Takes the key from whoever has it. */
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
  /** Takes the key from the one that has it and gives it `instead`. */
  function swap(id: CommandId, keys: string, instead: string): KeyFault | null {
    const change = swapOf(id, keys, instead)
    return change === null ? check(id, keys, instead) : attempt(change)
  }
  /** Whether `swap` would hold. */
  function canSwap(id: CommandId, keys: string, instead: string | null): boolean {
    const change = instead === null ? null : swapOf(id, keys, instead)
    return change !== null && tried(change).fault === null
  }
  /** The keys of the catalogue again; refused where another command has one of them by now. */
  const reset = (id: CommandId): KeyFault | null => attempt({ [id]: [...(entryOf.get(id)?.keys ?? [])] })
  const resetAll = (): void => void (chosen.value = {})
  const isChanged = (id: string): boolean => chosen.value[id] !== undefined

  const exportText = (): string => exportKeymap(chosen.value)
  /** Takes a keymap that was exported, as a whole or not at all. */
  function importText(text: string): Imported {
    const read = importKeymap(text)
    if (read.ok) chosen.value = plain(read.chosen)
    return read
  }
  return {
    ...{ chosen, byId, keysOf, isChanged, check, choose, remove, take, swap, canSwap },
    ...{ reset, resetAll, exportText, importText },
  }
})
