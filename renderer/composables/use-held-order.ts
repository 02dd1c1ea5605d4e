/** Nothing moves under the pointer: while it rests on a list, rows keep their places and only their values change. */
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'

/** Rows in the order of `held`: a row keeps its place while it is still sent, the others fill what is left. */
export function inHeldOrder<R extends { id: string }>(rows: readonly R[], held: readonly string[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const placed = held.slice(0, rows.length).map((id) => {
    const row = byId.get(id)
    byId.delete(id)
    return row
  })
  const rest = [...byId.values()]
  return Array.from({ length: rows.length }, (_, i) => placed[i] ?? rest.shift()).filter((row) => row !== undefined)
}

/**
 * @param order  changes when another order was asked for: sorting, another slice. That is never held back.
 */
export function useHeldOrder<R extends { id: string }>(
  fresh: () => readonly R[],
  order: () => unknown = () => undefined,
): { rows: ComputedRef<readonly R[]>; isHovered: Ref<boolean>; isHeld: ComputedRef<boolean> } {
  const isHovered = ref(false)
  const held = shallowRef<readonly string[] | null>(null)
  const capture = (): void => {
    held.value = isHovered.value ? fresh().map((row) => row.id) : null
  }
  watch(isHovered, capture)
  watch(order, () => (held.value = null))
  // The other order comes with the next rows, and is then the one to hold.
  watch(fresh, () => held.value === null && capture())
  const rows = computed(() => (held.value === null ? fresh() : inHeldOrder(fresh(), held.value)))
  return { rows, isHovered, isHeld: computed(() => held.value !== null) }
}
