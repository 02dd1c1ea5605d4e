/** Variants that a scenario is run under, the baseline first. */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { VARIANTS_MAX, type Variant } from '#core/api/sandbox.ts'

export interface VariantEntry {
  /** Stable while it is edited and moved. */
  readonly id: number
  readonly variant: Variant
}
/** Initial value of a new variant: everything as in the scenario. */
export const PLAIN: Variant = {
  name: 'Variant',
  controller: 'none',
  maxRate: null,
  periodMs: null,
  adaptbf: {},
  rules: [],
  metadata: null,
  metadataLimits: [],
  haechi: 'scenario',
  tokens: {},
  locks: null,
  lockOptions: {},
  onS: 0,
}
const NAME_MAX = 60

/** Returns the name, or the name with the first free number appended. */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const tail = n === 1 ? '' : ` ${n}`
    const name = wanted.slice(0, NAME_MAX - tail.length) + tail
    if (!taken.includes(name)) return name
  }
}

export const useSandboxVariantsStore = defineStore('sandbox-variants', () => {
  const entries = shallowRef<readonly VariantEntry[]>([])
  /** Variant whose settings are open beside the columns. */
  const editing = ref<number | null>(null)
  let last = 0

  const entry = (variant: Variant): VariantEntry => ({ id: ++last, variant })
  const names = (): string[] => entries.value.map(({ variant }) => variant.name)
  const isFull = computed(() => entries.value.length >= VARIANTS_MAX)
  const edited = computed(() => entries.value.find(({ id }) => id === editing.value) ?? null)

  /** Replaces all; an empty list becomes a baseline as in the scenario. */
  function set(variants: readonly Variant[]): void {
    const all = variants.length > 0 ? variants : [{ ...PLAIN, name: 'Baseline' }]
    entries.value = all.slice(0, VARIANTS_MAX).map(entry)
    editing.value = null
  }
  /** Restores earlier entries with their ids, for undo. */
  function put(before: readonly VariantEntry[]): void {
    entries.value = before
    if (before.every(({ id }) => id !== editing.value)) editing.value = null
  }
  /** @returns  its id; null if the maximum is reached. */
  function add(variant: Variant): number | null {
    if (isFull.value) return null
    const next = entry({ ...variant, name: freeName(variant.name, names()) })
    entries.value = [...entries.value, next]
    return next.id
  }
  function patch(id: number, change: Partial<Variant>): void {
    entries.value = entries.value.map((e) => (e.id === id ? { id, variant: { ...e.variant, ...change } } : e))
  }
  function duplicate(id: number): number | null {
    const from = entries.value.find((e) => e.id === id)
    return from ? add(from.variant) : null
  }
  function remove(id: number): void {
    if (entries.value.length <= 1) return
    entries.value = entries.value.filter((e) => e.id !== id)
    if (editing.value === id) editing.value = null
  }
  /** Moves it by a number of places; the first one is the baseline. */
  function move(id: number, by: number): void {
    const at = entries.value.findIndex((e) => e.id === id)
    const to = at + by
    const moved = entries.value[at]
    if (moved === undefined || to < 0 || to >= entries.value.length) return
    const next = entries.value.filter((e) => e.id !== id)
    next.splice(to, 0, moved)
    entries.value = next
  }
  return { entries, editing, edited, isFull, set, put, add, patch, duplicate, remove, move }
})
