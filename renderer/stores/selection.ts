/**
 * Selection of the window: a job, target, rule, user, node, client or lock resource. Every view highlights it and
 * linked entities, until Esc; it is kept while views change. Also whether the inspector is open.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { LinkedFrame, LinkedKind } from '#core/api/linked.ts'
import type { ServerPlace } from '#core/api/server-frame.ts'

export interface Selected {
  readonly kind: LinkedKind
  readonly id: string
  /** Display name if the id is a number; the id otherwise. */
  readonly name: string
}
/** Relation of a row to the selection: selected, or linked to it. */
export type SelectionRelation = 'chosen' | 'linked' | null

const NONE: ReadonlySet<string> = new Set()
/** Longest name in the contract. */
const ID_MAX = 300

export const useSelectionStore = defineStore('selection', () => {
  const selected = shallowRef<Selected | null>(null)
  const inspectorOpen = ref(false)
  const frame = shallowRef<LinkedFrame | null>(null)

  /** Selected job; null if none, or if something else is selected. */
  const jobId = computed({
    get: () => (selected.value?.kind === 'job' ? selected.value.id : null),
    set: (id: string | null) => {
      if (id !== null) choose('job', id)
      else if (selected.value?.kind === 'job') selected.value = null
    },
  })
  /** Selected target or server; null if none, or if something else is selected. */
  const place = computed((): ServerPlace | null => {
    const { kind, id } = selected.value ?? {}
    return (kind === 'target' || kind === 'node') && id !== undefined && id.length <= ID_MAX ? { kind, name: id } : null
  })
  /** Linked entities from the host, if they are for this selection and not the previous one. */
  const linked = computed(() =>
    frame.value?.kind === selected.value?.kind && frame.value?.id === selected.value?.id ? frame.value : null,
  )
  const names = computed(() => {
    const chosen = selected.value
    const of = linked.value
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
  /** Highlighted names of a kind, including the selected one. */
  const of = (kind: LinkedKind): ReadonlySet<string> => names.value.get(kind) ?? NONE
  const jobs = computed(() => of('job'))
  const tied = (kind: LinkedKind, id: string): SelectionRelation => {
    if (selected.value?.kind === kind && selected.value.id === id) return 'chosen'
    return of(kind).has(id) ? 'linked' : null
  }
  /** Requested from the host while something is selected. */
  const query = computed(() =>
    selected.value === null || selected.value.id.length > ID_MAX
      ? null
      : { kind: selected.value.kind, id: selected.value.id },
  )

  function choose(kind: LinkedKind, id: string, name = id): void {
    if (id === '') return
    if (selected.value?.kind !== kind || selected.value.id !== id) selected.value = { kind, id, name }
    // The inspected job is no longer selected.
    if (kind !== 'job') inspectorOpen.value = false
  }
  function select(id: string, options: { inspect?: boolean } = {}): void {
    choose('job', id)
    if (options.inspect) inspectorOpen.value = true
  }
  /** Esc: closes the inspector and clears the selection, since the inspector shows the selection. */
  function clear(): void {
    selected.value = null
    inspectorOpen.value = false
  }
  const apply = (next: LinkedFrame): void => {
    frame.value = next
  }
  return { selected, place, jobId, jobs, linked, query, inspectorOpen, of, tied, choose, select, clear, apply }
})
