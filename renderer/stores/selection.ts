/**
 * The one selection of the window: a job, a target, a rule, a user, a node, a client or what locks are on. Every view marks it
 * and what hangs together with it, until Esc; it stays while views change. And whether the inspector stands beside the view.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { LinkedFrame, LinkedKind } from '#core/api/linked.ts'
import type { ServerPlace } from '#core/api/server-frame.ts'

export interface Selected {
  readonly kind: LinkedKind
  readonly id: string
  /** How it is called where its id is a number; the id otherwise. */
  readonly name: string
}
/** What a row is to the selection: itself, or one that hangs together with it. */
export type Tied = 'chosen' | 'linked' | null

const NONE: ReadonlySet<string> = new Set()
/** Longest name that the contract takes. */
const ID_MAX = 300

export const useSelectionStore = defineStore('selection', () => {
  const selected = shallowRef<Selected | null>(null)
  const inspectorOpen = ref(false)
  const frame = shallowRef<LinkedFrame | null>(null)

  /** The selected job; null while nothing, or something else, is selected. */
  const jobId = computed({
    get: () => (selected.value?.kind === 'job' ? selected.value.id : null),
    set: (id: string | null) => {
      if (id !== null) choose('job', id)
      else if (selected.value?.kind === 'job') selected.value = null
    },
  })
  /** The selected target or server; null while nothing, or something else, is selected. */
  const place = computed((): ServerPlace | null => {
    const { kind, id } = selected.value ?? {}
    return (kind === 'target' || kind === 'node') && id !== undefined && id.length <= ID_MAX ? { kind, name: id } : null
  })
  /** What the host says of this selection; that of the one before says nothing of it. */
  const linked = computed(() =>
    frame.value?.kind === selected.value?.kind && frame.value?.id === selected.value?.id ? frame.value : null,
  )
  const names = computed(() => {
    const [chosen, of] = [selected.value, linked.value]
    if (chosen === null) return new Map<LinkedKind, ReadonlySet<string>>()
    const kinds: readonly LinkedKind[] = ['job', 'target', 'rule', 'user', 'node', 'client', 'resource']
    return new Map(
      kinds.map((kind) => {
        const all = new Set(of?.[kind] ?? [])
        if (kind === chosen.kind) all.add(chosen.id)
        return [kind, all]
      }),
    )
  })
  /** Names of a kind that are marked; the chosen one is among them. */
  const of = (kind: LinkedKind): ReadonlySet<string> => names.value.get(kind) ?? NONE
  const jobs = computed(() => of('job'))
  const tied = (kind: LinkedKind, id: string): Tied => {
    if (selected.value?.kind === kind && selected.value.id === id) return 'chosen'
    return of(kind).has(id) ? 'linked' : null
  }
  /** Asked of the host while something is selected. */
  const query = computed(() =>
    selected.value === null || selected.value.id.length > ID_MAX
      ? null
      : { kind: selected.value.kind, id: selected.value.id },
  )

  function choose(kind: LinkedKind, id: string, name = id): void {
    if (id === '') return
    if (selected.value?.kind !== kind || selected.value.id !== id) selected.value = { kind, id, name }
    // What was inspected is not selected any more.
    if (kind !== 'job') inspectorOpen.value = false
  }
  function select(id: string, options: { inspect?: boolean } = {}): void {
    choose('job', id)
    if (options.inspect) inspectorOpen.value = true
  }
  /** Esc: first the inspector and the selection, both at once, because the inspector shows the selection. */
  function clear(): void {
    selected.value = null
    inspectorOpen.value = false
  }
  const apply = (next: LinkedFrame): void => {
    frame.value = next
  }
  return { selected, place, jobId, jobs, linked, query, inspectorOpen, of, tied, choose, select, clear, apply }
})
